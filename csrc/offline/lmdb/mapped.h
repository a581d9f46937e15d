/* The mapped file, for values that the page cache has: a call costs more than a page fault. */
#ifndef TFD_LMDB_MAPPED_H
#define TFD_LMDB_MAPPED_H

#include "offline/lmdb/environment.h"

/* Copy values of records, each to its place, after the check of tfd_lmdb_check_mapped(). */
int tfd_lmdb_copy_mapped(struct tfd_lmdb *file, const uint64_t *numbers, char *const *to, size_t count,
                         struct tfd_lmdb_error *error);

#endif
