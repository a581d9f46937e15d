/* A session's list of started programs that are not recorded. */
#ifndef TFD_UNSEEN_PROGRAM_H
#define TFD_UNSEEN_PROGRAM_H

/* Why a program is not recorded: the first letter of its line. */
enum tfd_program {
    TFD_PROGRAM_NONE = 0,           /* there is no such program */
    TFD_PROGRAM_TAKES_IT = '+',     /* it takes the library: its loader is this process's loader */
    TFD_PROGRAM_STATIC = 's',       /* no loader starts it */
    TFD_PROGRAM_OTHER_LOADER = 'l', /* its C library or machine differs: loading ours may end it */
    TFD_PROGRAM_SANITIZED = 'a',    /* its sanitizer ends it if another library is loaded first */
    TFD_PROGRAM_PRIVILEGED = 'p',   /* the loader ignores LD_PRELOAD (set-user-ID) */
    TFD_PROGRAM_UNREADABLE = 'u',
    TFD_PROGRAM_LIBRARY_GONE = 'g', /* our library cannot be reached, such as after chroot */
    TFD_PROGRAM_RELATIVE = 'r',     /* its path depends on file actions of posix_spawn */
    TFD_PROGRAM_LARGE = 'e',        /* its environment or shell command is too long to add to */
    TFD_PROGRAM_LIMITED = 'm',      /* its address space is limited, and a recording would use some of it */
    TFD_PROGRAM_NOT_JOINED = 'j',   /* its recording could not begin: no room, or another PID namespace */
};

/* Add a line to the list, if the spool folder has one. Changes no memory but the stack; keeps errno. */
void tfd_note_unseen_program(const char *spool_directory, enum tfd_program why, const char *path);
/* Add the program that this process runs. */
void tfd_note_unseen_self(const char *spool_directory, enum tfd_program why);

#endif
