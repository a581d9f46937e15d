/* Files beside a session's spools that its processes share: one of them makes a file, those that join map it. */
#ifndef TFD_SHARED_FILE_H
#define TFD_SHARED_FILE_H

#include <stddef.h>

/* Makes a file that nobody finds yet. All its blocks are there: a full file system ends nobody who maps it. Gives
 * its descriptor or -errno; where publishing fails, or is not wanted, nothing is left. */
int tfd_shared_file_make(const char *directory, const char *name, size_t bytes);
int tfd_shared_file_publish(const char *directory, const char *name);
void tfd_shared_file_remove(const char *directory, const char *name);
/* Opens one that was published by this user, to read and write; -errno. */
int tfd_shared_file_open(const char *directory, const char *name, size_t *bytes);

#endif
