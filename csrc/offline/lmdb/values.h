/* The values of records, each read to a place of its own. */
#ifndef TFD_LMDB_VALUES_H
#define TFD_LMDB_VALUES_H

#include "offline/lmdb/environment.h"

/* As tfd_lmdb_read(), to[i] being where value i goes. */
int tfd_lmdb_read_to(struct tfd_lmdb *file, const uint64_t *numbers, char *const *to, size_t count,
                     int threads, bool cached, struct tfd_lmdb_error *error);

/* Reads values and drops them, so that the page cache has them. */
int tfd_lmdb_warm(const struct tfd_lmdb *file, const uint64_t *numbers, size_t count, int threads,
                  struct tfd_lmdb_error *error);

#endif
