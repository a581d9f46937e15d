/* Reads LMDB databases of data version 1 by explicit reads, and what the page cache has through a mapping:
 * nothing is written, no lock is taken. The only header cffi reads for this extension.
 *
 * All but open and close may run in several threads at once, except that nothing else may use a database while
 * it is indexed. A result of -1 has filled `error`. */
#ifndef TFD_LMDB_H
#define TFD_LMDB_H

#include <stddef.h>
#include <stdint.h>

enum {
    TFD_LMDB_DAMAGED = 1, /* the file contradicts itself, or changed while it was read */
    TFD_LMDB_OTHER = 2,   /* an LMDB file of a format that is not read here */
    TFD_LMDB_SYSTEM = 3,  /* a system call failed: `number` is its errno */
    TFD_LMDB_MISSING = 4, /* there is no sub-database of this name */
    TFD_LMDB_FOREIGN = 5, /* not an LMDB file */
};

struct tfd_lmdb_error {
    int32_t kind;
    int32_t number;
    char text[240]; /* what is wrong, to follow the file's name; no full stop */
};

/* One database of the file, and the snapshot it is of. */
struct tfd_lmdb_facts {
    uint64_t file_bytes;
    uint64_t page_bytes;
    uint64_t map_bytes;
    uint64_t last_page;
    uint64_t transaction;
    uint64_t entries;
    uint64_t branch_pages;
    uint64_t leaf_pages;
    uint64_t overflow_pages;
    uint64_t depth;
    uint64_t flags; /* MDB_REVERSEKEY 2, DUPSORT 4, INTEGERKEY 8, DUPFIXED 16, INTEGERDUP 32, REVERSEDUP 64 */
};

enum {
    TFD_LMDB_IN_PAGES = 1,     /* the value has pages of its own, after a header of 16 bytes */
    TFD_LMDB_SUB_DATABASE = 2, /* the value describes a sub-database */
};

/* One record, in the order of keys. A key's duplicates are records that share the key's bytes. */
struct tfd_lmdb_record {
    uint64_t offset; /* of the value, in the file */
    uint64_t key;    /* where it begins in tfd_lmdb_keys() */
    uint32_t size;   /* of the value, in bytes */
    uint16_t key_size;
    uint16_t flags;
};

struct tfd_lmdb;

/* Opens the data file; with `direct` values are read past the page cache where the file system can do it. */
struct tfd_lmdb *tfd_lmdb_open(const char *path, int direct, struct tfd_lmdb_error *error);
void tfd_lmdb_close(struct tfd_lmdb *file);
int tfd_lmdb_reads_direct(const struct tfd_lmdb *file);

/* A descriptor of the data file, which closing it closes. */
int tfd_lmdb_descriptor(const struct tfd_lmdb *file);

/* Finds all records of the main database, or of the sub-database `name` where that is not NULL. */
int tfd_lmdb_index(struct tfd_lmdb *file, const char *name, size_t name_size, int threads,
                   struct tfd_lmdb_error *error);
void tfd_lmdb_facts_of(const struct tfd_lmdb *file, struct tfd_lmdb_facts *facts);
uint64_t tfd_lmdb_count(const struct tfd_lmdb *file);
const struct tfd_lmdb_record *tfd_lmdb_records(const struct tfd_lmdb *file);
const char *tfd_lmdb_keys(const struct tfd_lmdb *file, uint64_t *size);

/* Takes records and keys that were found before, of the database that `facts` describes, in place of finding them.
 * They are copied; any that leaves the file, or its keys, is refused. */
int tfd_lmdb_restore(struct tfd_lmdb *file, const struct tfd_lmdb_record *records, uint64_t count,
                     const char *keys, uint64_t key_bytes, const struct tfd_lmdb_facts *facts,
                     struct tfd_lmdb_error *error);

/* The newest transaction that is in the file now. */
int tfd_lmdb_newest(const struct tfd_lmdb *file, uint64_t *transaction, struct tfd_lmdb_error *error);

/* Reads the values of `count` records into `to` of `room` bytes, each to its place there: in the order of the file
 * from the storage, neighbours by one call, by at most `threads` threads; 0: by one, in calls that are
 * small enough for the kernel to read ahead of them. `cached`: the page cache should have them:
 * they are copied from a mapping, if the file can be mapped. */
int tfd_lmdb_read(struct tfd_lmdb *file, const uint64_t *numbers, const uint64_t *places, size_t count,
                  char *to, uint64_t room, int threads, int cached, struct tfd_lmdb_error *error);

/* Asks for a page at each of the places at once, and says after how many seconds it and those before it had come. */
int tfd_lmdb_time_reads(int fd, const uint64_t *places, size_t count, double *elapsed_s,
                        struct tfd_lmdb_error *error);

/* How many pages the page cache has of the `length` bytes at each of the places; an errno if the kernel does not say.
 * Of an overlay's file, as containers have them, it sees none. */
int tfd_lmdb_cached_pages(int fd, const uint64_t *places, size_t count, uint64_t length, uint64_t *pages);

/* The whole file, mapped at the first call and until it is closed; NULL if it cannot be. */
const char *tfd_lmdb_mapping(struct tfd_lmdb *file);

/* That the mapping has the values of these records: before they are used without a copy. */
int tfd_lmdb_check_mapped(struct tfd_lmdb *file, const uint64_t *numbers, size_t count,
                          struct tfd_lmdb_error *error);

/* Lends an indexed file to TensorFlow's op, which is given the number returned (0: too many are lent) and never a
 * pointer. The file stays open as long as it is lent. `held`: this process keeps writers from what is read; else
 * each read looks whether one may have changed it. */
uint64_t tfd_lmdb_lend(struct tfd_lmdb *file, const char *path, int held);

/* How the op reads from now on: with so many reads in flight; what the page cache has; after waiting for its turn;
 * first a window of so many records of its span, in the order of the file, to the page cache; with several reads in
 * flight the next two windows meanwhile, in the background. */
void tfd_lmdb_set_reading(uint64_t lent, int threads, int cached, int turns, uint64_t window);

/* From now on the op fails with a sentence; calls under way end as they would. */
void tfd_lmdb_take_back(uint64_t lent);

/* The functions that the op calls: a struct tfd_lmdb_borrowed_calls. */
const void *tfd_lmdb_borrowed_functions(void);

#endif
