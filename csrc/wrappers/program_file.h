/* Whether a program takes the library that records it. */
#ifndef TFD_PROGRAM_FILE_H
#define TFD_PROGRAM_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "job/unseen_program.h"

/* The first program that exec runs for that file: of a script, its interpreter. Follows no PATH. Changes no memory
 * but the stack, as all below: so it may run in a child of vfork. Keeps errno. */
enum tfd_program tfd_program_look_at(int dirfd, const char *path, const char *library);

/* Of a name without '/', the file that PATH leads to; false where there is none. */
bool tfd_program_find(const char *name, char *out, size_t capacity);

#endif
