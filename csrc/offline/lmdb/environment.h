/* An LMDB data file: its meta pages, its size, and the records that were found in it. */
#ifndef TFD_LMDB_ENVIRONMENT_H
#define TFD_LMDB_ENVIRONMENT_H

#include <stdatomic.h>

#include "offline/lmdb/format.h"
#include "offline/lmdb/records.h"

struct tfd_lmdb {
    atomic_int users; /* the last user closes the file */
    int fd;
    int direct_fd;          /* -1: none */
    _Atomic(char *) mapped; /* file_bytes of it; NULL until it is first needed */
    uint64_t file_bytes;
    uint64_t page_bytes;
    uint64_t map_bytes;
    uint64_t last_page;
    uint64_t transaction;
    struct mdb_tree main;
    struct mdb_tree indexed; /* the database that `found` is of */
    struct tfd_lmdb_found found;
};

/* Read exactly `size` bytes; return 0 or -1. */
int tfd_lmdb_read_bytes(int fd, void *to, size_t size, uint64_t offset, struct tfd_lmdb_error *error);

/* Return true if `count` pages from `first` on are in the file. */
bool tfd_lmdb_has_pages(const struct tfd_lmdb *file, uint64_t first, uint64_t count);

#endif
