/* The environment that a program is started with. */
#ifndef TFD_PROGRAM_ENVIRONMENT_H
#define TFD_PROGRAM_ENVIRONMENT_H

#include <stddef.h>

/* What a program is given beside its own environment, and the room that takes. */
struct tfd_program_start {
    const char *library; /* into LD_PRELOAD, as the last one; NULL: none of ours is to be there */
    size_t places;       /* of the array; 0: the environment stays as it is */
    size_t text_bytes;   /* of LD_PRELOAD's text; 0: it stays as it is */
};

struct tfd_program_start tfd_program_start(const char *library, char *const environment[]);

/* Fills array and text, which are as large as `start` says; returns the array. */
char *const *tfd_program_environment(const struct tfd_program_start *start, char **out, char *text,
                                     char *const environment[]);

#endif
