/* Many pieces of one file read at once: sorted by where they lie, neighbours merged into one call, calls made by
 * several threads. What the page cache has is read without starting any. */
#ifndef TFD_LMDB_SCATTER_H
#define TFD_LMDB_SCATTER_H

#include <stdbool.h>

#include "offline/lmdb/lmdb.h"

enum { TFD_LMDB_HEAD_BYTES = 16, TFD_LMDB_LARGEST_PIECE = 4 << 20 };

struct tfd_lmdb_piece {
    uint64_t offset;
    uint64_t size; /* at most TFD_LMDB_LARGEST_PIECE */
    uint8_t *to;   /* NULL, if it is of all pieces: read and drop it */
    uint8_t *head; /* where the 16 bytes before the piece go, or NULL */
};

/* Sorts `pieces` and reads them. With direct_fd >= 0 past the page cache. `cached`: the page cache should have them. */
int tfd_lmdb_scatter(int fd, int direct_fd, struct tfd_lmdb_piece *pieces, size_t count, int threads,
                     bool cached, struct tfd_lmdb_error *error);

#endif
