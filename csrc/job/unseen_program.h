/* A session's list of programs that were started and are not recorded. */
#ifndef TFD_UNSEEN_PROGRAM_H
#define TFD_UNSEEN_PROGRAM_H

/* Whether a program takes the library that records it, and why not: by the letter that its line begins with. */
enum tfd_program {
    TFD_PROGRAM_NONE = 0,           /* there is no such file that can be run */
    TFD_PROGRAM_TAKES_IT = '+',     /* it is started by the loader that has started this process */
    TFD_PROGRAM_STATIC = 's',       /* no loader starts it */
    TFD_PROGRAM_OTHER_LOADER = 'l', /* of another C library or machine: loading ours may end it */
    TFD_PROGRAM_SANITIZED = 'a',    /* its sanitizer ends it where another library is loaded first */
    TFD_PROGRAM_PRIVILEGED = 'p',   /* the loader refuses what it inherits */
    TFD_PROGRAM_UNREADABLE = 'u',
    TFD_PROGRAM_LIBRARY_GONE = 'g', /* ours cannot be reached from here, as after chroot */
    TFD_PROGRAM_RELATIVE = 'r',     /* which file its path means is known only after its file actions */
    TFD_PROGRAM_LARGE = 'e',        /* its environment, or the shell's command, is too long to be added to */
    TFD_PROGRAM_LIMITED = 'm',      /* its memory is limited, and a recording would take of it */
    TFD_PROGRAM_NOT_JOINED = 'j',   /* its recording could not begin: no room, or another pid namespace */
};

/* Adds a line to the list, where the spool folder has one. Changes no memory but the stack; keeps errno. */
void tfd_note_unseen_program(const char *spool_directory, enum tfd_program why, const char *path);
/* Adds the program that this process runs. */
void tfd_note_unseen_self(const char *spool_directory, enum tfd_program why);

#endif
