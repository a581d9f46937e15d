/* The process's mounts, read once per session and copied into each spool. */
#ifndef TFD_MOUNT_TABLE_H
#define TFD_MOUNT_TABLE_H

#include "spool/spool.h"

/* A table that cannot be read is an empty one. */
void tfd_mounts_read(void);
int tfd_mounts_copy(struct tfd_spool *spool);
/* Return the index of the mount with the longest point that holds the path, or TFD_NO_MOUNT. */
uint32_t tfd_mount_of(const struct tfd_spool *spool, const char *path, size_t length);
/* Ask the file system for its block size, once per mount, by an open file: statfs(2) on an unused mount can hang for
 * ever if its server is gone. */
void tfd_mount_learn_block_size(struct tfd_spool *spool, uint32_t mount, int fd);

#endif
