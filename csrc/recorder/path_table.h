/* From path to file id. Caller holds tfd_tables_lock. */
#ifndef TFD_PATH_TABLE_H
#define TFD_PATH_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/descriptor_table.h"
#include "spool/spool.h"

int tfd_paths_reset(void); /* at session start, and in a child; -errno */
/* What folding the files seen so far may still take: no chunk may use that room. */
uint64_t tfd_fold_reserve_bytes(const struct tfd_spool *spool);
/* Asks the file system for the part of that which folding cannot do without. */
bool tfd_fold_keep_usable(struct tfd_spool *spool);
/* Makes files 0 and 1. */
int tfd_paths_prepare_spool(struct tfd_spool *spool);
/* File id of a path as a call was given it: a new row on first sight, TFD_FILE_OVERFLOW
 * beyond the cap, TFD_OTHER_EXCLUDED where the filter leaves it out. Paths are kept
 * absolute, without "//" and "/./"; ".." stays: behind a symbolic link it has no meaning by name. */
tfd_target tfd_path_target(struct tfd_spool *spool, int dirfd, const char *path);
/* What an open descriptor of unknown origin refers to, with its position. */
tfd_target tfd_descriptor_target(struct tfd_spool *spool, int fd, int64_t *offset);

#endif
