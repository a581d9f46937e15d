/* The process's mounts, read once per session and copied into each spool. */
#ifndef TFD_MOUNT_TABLE_H
#define TFD_MOUNT_TABLE_H

#include "spool/spool.h"

int tfd_mounts_read(void);
int tfd_mounts_copy(struct tfd_spool *spool);
/* Index of the mount with the longest point that holds the path, or TFD_NO_MOUNT. */
uint32_t tfd_mount_of(const struct tfd_spool *spool, const char *path, size_t length);
/* Asks the file system for its block size, once per mount, through a file that is open anyway:
 * statfs on an unused mount can hang for ever when its server is away. */
void tfd_mount_learn_block_size(struct tfd_spool *spool, uint32_t mount, int fd);

#endif
