/* Growing arrays of found records, of their keys, and of the pages that lead to them. */
#ifndef TFD_LMDB_RECORDS_H
#define TFD_LMDB_RECORDS_H

#include "offline/lmdb/lmdb.h"

struct tfd_lmdb_found {
    struct tfd_lmdb_record *records;
    size_t count, room;
    char *keys;
    size_t key_bytes, key_room;
};

struct tfd_lmdb_pages {
    uint64_t *numbers;
    size_t count, room;
};

/* These return 0, or -1 if there is no memory. */
int tfd_lmdb_add_record(struct tfd_lmdb_found *found, const struct tfd_lmdb_record *record);
int tfd_lmdb_add_key(struct tfd_lmdb_found *found, const void *key, size_t size);
int tfd_lmdb_add_page(struct tfd_lmdb_pages *pages, uint64_t number);

void tfd_lmdb_forget(struct tfd_lmdb_found *found);

#endif
