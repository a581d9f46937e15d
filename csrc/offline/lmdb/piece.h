/* A piece of a file to read, and where its bytes go. */
#ifndef TFD_LMDB_PIECE_H
#define TFD_LMDB_PIECE_H

#include <stdint.h>

enum { TFD_LMDB_HEAD_BYTES = 16, TFD_LMDB_LARGEST_PIECE = 4 << 20 };

struct tfd_lmdb_piece {
    uint64_t offset;
    uint64_t size; /* at most TFD_LMDB_LARGEST_PIECE */
    uint8_t *to;   /* NULL for all pieces: read and drop them */
    uint8_t *head; /* where the 16 bytes before the piece go, or NULL */
};

#endif
