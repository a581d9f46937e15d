/* File ids of paths. The caller holds tfd_tables_lock. */
#ifndef TFD_PATH_TABLE_H
#define TFD_PATH_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/descriptor_table.h"
#include "spool/spool.h"

int tfd_paths_reset(void); /* at session start, and in a child; -errno */
/* Make files 0 and 1; return 0 or -errno. */
int tfd_paths_prepare_spool(struct tfd_spool *spool);
/* Return the file id of a call's path: a new row at its first use, TFD_FILE_OVERFLOW beyond the cap,
 * TFD_OTHER_EXCLUDED if the filter excludes it. Paths are stored absolute, without "//" and "/./". ".." stays, since
 * behind a symbolic link it has no meaning by name. */
tfd_target tfd_path_target(struct tfd_spool *spool, int dirfd, const char *path);
/* Return the target of an open descriptor that is not known yet, with its position. */
tfd_target tfd_descriptor_target(struct tfd_spool *spool, int fd, int64_t *offset);

#endif
