/* A session's list of programs that were started: a file in its spool folder, where that has one. */
#ifndef TFD_PROGRAM_LIST_H
#define TFD_PROGRAM_LIST_H

#include <stdint.h>

#define TFD_NOTE_BYTES 600

/* Adds a line of `length` bytes; what is longer is cut. Changes no memory but the line, so that it may be called in a
 * child of vfork; keeps errno. Returns the bytes that were written. */
int64_t tfd_program_list_add(const char *spool_directory, char line[TFD_NOTE_BYTES], int length);

#endif
