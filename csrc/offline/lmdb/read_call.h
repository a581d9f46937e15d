/* One call of preadv(2): neighbouring pieces of a file. */
#ifndef TFD_LMDB_READ_CALL_H
#define TFD_LMDB_READ_CALL_H

#include <stdbool.h>

#include "offline/lmdb/failure.h"
#include "offline/lmdb/piece.h"

struct tfd_lmdb_call {
    const struct tfd_lmdb_piece *pieces;
    size_t count;
    uint64_t offset;
    uint64_t size;
};

/* All calls of one scatter. */
struct tfd_lmdb_work {
    int fd;
    int direct_fd; /* -1: none */
    bool copied;   /* read into a buffer and copied, because pieces are small or the read is direct */
    const struct tfd_lmdb_call *calls;
    size_t count;
    uint64_t largest; /* bytes of a call */
};

/* Buffers of a reading thread. */
struct tfd_lmdb_buffers {
    uint8_t *dropped; /* for bytes between pieces */
    uint8_t *copied;
};

enum { TFD_LMDB_DONE = 0, TFD_LMDB_WOULD_WAIT = 1 };

int tfd_lmdb_make_buffers(const struct tfd_lmdb_work *work, struct tfd_lmdb_buffers *buffers,
                          struct tfd_lmdb_error *error);
void tfd_lmdb_free_buffers(struct tfd_lmdb_buffers *buffers);

/* Make the call; return TFD_LMDB_DONE or -1. With `cached_only` return TFD_LMDB_WOULD_WAIT if the page cache lacks
 * any of it. */
int tfd_lmdb_read_call(const struct tfd_lmdb_work *work, const struct tfd_lmdb_call *call,
                       const struct tfd_lmdb_buffers *buffers, bool cached_only,
                       struct tfd_lmdb_error *error);

#endif
