/* Many pieces of one file read at once: sorted by where they lie, neighbours merged into one call, calls made by
 * several threads. What the page cache has is read without starting any. */
#ifndef TFD_LMDB_SCATTER_H
#define TFD_LMDB_SCATTER_H

#include <stdbool.h>

#include "offline/lmdb/lmdb.h"
#include "offline/lmdb/piece.h"

/* Sorts `pieces` and reads them. With direct_fd >= 0 past the page cache. `cached`: the page cache should have them. */
int tfd_lmdb_scatter(int fd, int direct_fd, struct tfd_lmdb_piece *pieces, size_t count, int threads,
                     bool cached, struct tfd_lmdb_error *error);

#endif
