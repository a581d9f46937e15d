/* Files that are lent to TensorFlow's op, by number: what is in the other library knows no pointer of this one. */
#ifndef TFD_LMDB_BORROWED_H
#define TFD_LMDB_BORROWED_H

#include "offline/lmdb/lmdb.h"

enum { TFD_LMDB_BORROWED_VERSION = 1 };

/* Some of a span of records, which is what the op is given at a time to read in turn. */
struct tfd_lmdb_part {
    uint64_t lent;
    uint64_t span;          /* which one: those of one lent file have numbers of their own */
    const int64_t *numbers; /* the records of the whole span */
    size_t total;
    size_t first; /* what of them is read */
    size_t count;
};

struct tfd_lmdb_borrowed_calls {
    uint32_t version;
    /* Sizes of the part's values, in bytes; their sum, or -1. */
    int64_t (*sizes)(const struct tfd_lmdb_part *part, uint64_t *sizes, struct tfd_lmdb_error *error);
    /* Reads the part's values, each to its place. */
    int (*read)(const struct tfd_lmdb_part *part, char *const *to, struct tfd_lmdb_error *error);
};

#endif
