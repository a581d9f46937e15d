/* Files that TensorFlow's op borrows, by number: the op's library has no pointer into this one. */
#ifndef TFD_LMDB_BORROWED_H
#define TFD_LMDB_BORROWED_H

#include "offline/lmdb/lmdb.h"

enum { TFD_LMDB_BORROWED_VERSION = 1 };

/* A part of a span of records. The op gets a span, and reads its parts in turn. */
struct tfd_lmdb_part {
    uint64_t lent;
    uint64_t span;          /* number of the span, unique in a lent file */
    const int64_t *numbers; /* the records of the whole span */
    size_t total;
    size_t first; /* first record of the part */
    size_t count;
};

struct tfd_lmdb_borrowed_calls {
    uint32_t version;
    /* Fill `sizes` with the sizes of the part's values in bytes; return their sum, or -1. */
    int64_t (*sizes)(const struct tfd_lmdb_part *part, uint64_t *sizes, struct tfd_lmdb_error *error);
    /* Read the part's values, each to its place; return 0 or -1. */
    int (*read)(const struct tfd_lmdb_part *part, char *const *to, struct tfd_lmdb_error *error);
};

#endif
