/* Whether a program takes the library that records programs. */
#ifndef TFD_PROGRAM_FILE_H
#define TFD_PROGRAM_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "job/unseen_program.h"

/* Check the first program that exec(3) runs for that file: for a script, its interpreter. PATH is not used. These
 * functions change no memory but the stack, so they may run in a child of vfork. They keep errno. */
enum tfd_program tfd_program_look_at(int dirfd, const char *path, const char *library);

/* Find the file that PATH leads to for a name without '/'; return false if there is none. */
bool tfd_program_find(const char *name, char *out, size_t capacity);

#endif
