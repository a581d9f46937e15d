/* The environment that a program is started with. */
#ifndef TFD_PROGRAM_ENVIRONMENT_H
#define TFD_PROGRAM_ENVIRONMENT_H

#include <stddef.h>

/* Additions to a program's environment, and the memory that they take. */
struct tfd_program_start {
    const char *library; /* last one of LD_PRELOAD; NULL: our library is removed from it */
    size_t places;       /* length of the array; 0: the environment stays unchanged */
    size_t text_bytes;   /* size of LD_PRELOAD's text; 0: it stays unchanged */
};

struct tfd_program_start tfd_program_start(const char *library, char *const environment[]);

/* Fill array and text, whose sizes `start` has; return the array. */
char *const *tfd_program_environment(const struct tfd_program_start *start, char **out, char *text,
                                     char *const environment[]);

#endif
