/* A session's list of started programs: a file in its spool folder, if that has one. */
#ifndef TFD_PROGRAM_LIST_H
#define TFD_PROGRAM_LIST_H

#include <stdint.h>

#define TFD_NOTE_BYTES 600

/* Add a line of `length` bytes, cut to TFD_NOTE_BYTES; return the bytes that were written. It changes no memory but the
 * line, so a child of vfork may call it. Keeps errno. */
int64_t tfd_program_list_add(const char *spool_directory, char line[TFD_NOTE_BYTES], int length);

#endif
