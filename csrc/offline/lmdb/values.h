/* Reads the values of records, each to its own place. */
#ifndef TFD_LMDB_VALUES_H
#define TFD_LMDB_VALUES_H

#include "offline/lmdb/environment.h"

/* The same as tfd_lmdb_read(), with value i going to to[i]. */
int tfd_lmdb_read_to(struct tfd_lmdb *file, const uint64_t *numbers, char *const *to, size_t count,
                     int threads, bool cached, struct tfd_lmdb_error *error);

/* Read values and drop them, so that the page cache has them. */
int tfd_lmdb_warm(const struct tfd_lmdb *file, const uint64_t *numbers, size_t count, int threads,
                  struct tfd_lmdb_error *error);

#endif
