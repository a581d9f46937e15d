/* Whether a program takes the library that records it. */
#ifndef TFD_PROGRAM_FILE_H
#define TFD_PROGRAM_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* Why it does not. Each is a letter: so a line of the list of unseen programs begins. */
enum tfd_program {
    TFD_PROGRAM_NONE = 0,           /* there is no such file that can be run */
    TFD_PROGRAM_TAKES_IT = '+',     /* it is started by the loader that has started this process */
    TFD_PROGRAM_STATIC = 's',       /* no loader starts it */
    TFD_PROGRAM_OTHER_LOADER = 'l', /* of another C library or machine: loading ours may end it */
    TFD_PROGRAM_SANITIZED = 'a',    /* its sanitizer ends it where another library is loaded first */
    TFD_PROGRAM_PRIVILEGED = 'p',   /* the loader refuses what it inherits */
    TFD_PROGRAM_UNREADABLE = 'u',
    TFD_PROGRAM_LIBRARY_GONE = 'g', /* ours cannot be reached from here, as after chroot */
};

/* The first program that exec runs for that file: of a script, its interpreter. Follows no PATH. Changes no memory
 * but the stack, as all below: so it may run in a child of vfork. Keeps errno. */
enum tfd_program tfd_program_look_at(int dirfd, const char *path, const char *library);

/* Of a name without '/', the file that PATH leads to; false where there is none. */
bool tfd_program_find(const char *name, char *out, size_t capacity);

/* Adds a line to the session's list of programs that were started and cannot be recorded. */
void tfd_program_note_unseen(enum tfd_program why, const char *path);

#endif
