/* Reads many pieces of one file at once: in the order of the file, neighbours by one call, calls by several threads.
 * Pieces that the page cache has are read without starting threads. */
#ifndef TFD_LMDB_SCATTER_H
#define TFD_LMDB_SCATTER_H

#include <stdbool.h>

#include "offline/lmdb/lmdb.h"
#include "offline/lmdb/piece.h"

/* Sort `pieces` and read them, past the page cache if `direct_fd` is not negative. `cached`: the page cache should have
 * them. */
int tfd_lmdb_scatter(int fd, int direct_fd, struct tfd_lmdb_piece *pieces, size_t count, int threads,
                     bool cached, struct tfd_lmdb_error *error);

#endif
