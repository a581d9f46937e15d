/* Files beside a session's spools that its processes share. One process makes a file, and those that join map it. */
#ifndef TFD_SHARED_FILE_H
#define TFD_SHARED_FILE_H

#include <stddef.h>

/* Make a file that other processes do not find yet. Its blocks are allocated, so that a full file system does not end a
 * process that maps it. Return its descriptor or -errno. If publishing fails, or is not wanted, no file is left. */
int tfd_shared_file_make(const char *directory, const char *name, size_t bytes);
int tfd_shared_file_publish(const char *directory, const char *name);
void tfd_shared_file_remove(const char *directory, const char *name);
/* Open a file that this user has published, to read and write; return its descriptor or -errno. */
int tfd_shared_file_open(const char *directory, const char *name, size_t *bytes);

#endif
