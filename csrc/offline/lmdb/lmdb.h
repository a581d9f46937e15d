/* Reads LMDB databases of data version 1, by reads and, if the page cache has the values, through a mapping. Nothing
 * is written and no lock is taken. The only header that cffi reads for this extension.
 *
 * All functions but open and close may run in several threads at once, except that nothing else may use a database
 * while it is indexed. A function that returns -1 has filled `error`. */
#ifndef TFD_LMDB_H
#define TFD_LMDB_H

#include <stddef.h>
#include <stdint.h>

enum {
    TFD_LMDB_DAMAGED = 1, /* the file contradicts itself, or changed while it was read */
    TFD_LMDB_OTHER = 2,   /* an LMDB file of an unsupported format */
    TFD_LMDB_SYSTEM = 3,  /* a system call failed: `number` is its errno */
    TFD_LMDB_MISSING = 4, /* there is no sub-database of this name */
    TFD_LMDB_FOREIGN = 5, /* not an LMDB file */
};

struct tfd_lmdb_error {
    int32_t kind;
    int32_t number;
    char text[240]; /* the problem, to follow the file's name; no full stop */
};

/* A database of the file and its snapshot. */
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
    TFD_LMDB_IN_PAGES = 1,     /* the value has its own pages, after a header of 16 bytes */
    TFD_LMDB_SUB_DATABASE = 2, /* the value describes a sub-database */
};

/* One record, in the order of keys. A key's duplicates are records that share the key's bytes. */
struct tfd_lmdb_record {
    uint64_t offset; /* offset of the value in the file */
    uint64_t key;    /* offset of the key in tfd_lmdb_keys() */
    uint32_t size;   /* size of the value in bytes */
    uint16_t key_size;
    uint16_t flags;
};

struct tfd_lmdb;

/* Open the data file; return NULL on failure. `direct`: read values past the page cache if the file system can. */
struct tfd_lmdb *tfd_lmdb_open(const char *path, int direct, struct tfd_lmdb_error *error);
void tfd_lmdb_close(struct tfd_lmdb *file);
int tfd_lmdb_reads_direct(const struct tfd_lmdb *file);

/* Return a descriptor of the data file, which tfd_lmdb_close() closes. */
int tfd_lmdb_descriptor(const struct tfd_lmdb *file);

/* Find all records of the main database, or of the sub-database `name` if it is not NULL. */
int tfd_lmdb_index(struct tfd_lmdb *file, const char *name, size_t name_size, int threads,
                   struct tfd_lmdb_error *error);
void tfd_lmdb_facts_of(const struct tfd_lmdb *file, struct tfd_lmdb_facts *facts);
uint64_t tfd_lmdb_count(const struct tfd_lmdb *file);
const struct tfd_lmdb_record *tfd_lmdb_records(const struct tfd_lmdb *file);
const char *tfd_lmdb_keys(const struct tfd_lmdb *file, uint64_t *size);

/* Copy records and keys that were found before, of the database that `facts` describes, instead of finding them.
 * Fails if a record leaves the file, or a key its keys. */
int tfd_lmdb_restore(struct tfd_lmdb *file, const struct tfd_lmdb_record *records, uint64_t count,
                     const char *keys, uint64_t key_bytes, const struct tfd_lmdb_facts *facts,
                     struct tfd_lmdb_error *error);

/* Read the newest transaction in the file. */
int tfd_lmdb_newest(const struct tfd_lmdb *file, uint64_t *transaction, struct tfd_lmdb_error *error);

/* Read the values of `count` records into `to` of `room` bytes, each to its place. Values are read in the order of the
 * file, neighbours by one call, by at most `threads` threads; 0: by one thread, in calls that are small enough for the
 * kernel to read ahead. `cached`: the page cache should have the values, so they are copied from a mapping if there can
 * be one. */
int tfd_lmdb_read(struct tfd_lmdb *file, const uint64_t *numbers, const uint64_t *places, size_t count,
                  char *to, uint64_t room, int threads, int cached, struct tfd_lmdb_error *error);

/* Read a page at each of the places at once; `elapsed_s` gets after how many seconds it and the earlier ones had
 * come. */
int tfd_lmdb_time_reads(int fd, const uint64_t *places, size_t count, double *elapsed_s,
                        struct tfd_lmdb_error *error);

/* Count the pages that the page cache has of `length` bytes at each of the places; return 0, or an errno if the kernel
 * cannot tell. It finds none of files on overlayfs, which containers use. */
int tfd_lmdb_cached_pages(int fd, const uint64_t *places, size_t count, uint64_t length, uint64_t *pages);

/* Return the whole file, mapped at the first call and until it is closed; NULL if it cannot be mapped. */
const char *tfd_lmdb_mapping(struct tfd_lmdb *file);

/* Check that the mapping has the values of these records, before they are used without a copy. */
int tfd_lmdb_check_mapped(struct tfd_lmdb *file, const uint64_t *numbers, size_t count,
                          struct tfd_lmdb_error *error);

/* Lend an indexed file to TensorFlow's op; return its number, 0 if too many are lent. The op gets no pointer. The file
 * stays open while it is lent. `held`: this process keeps writers away; otherwise each read checks whether a writer may
 * have changed the values. */
uint64_t tfd_lmdb_lend(struct tfd_lmdb *file, const char *path, int held);

/* Set how the op reads from now on. `threads`: reads in flight. `cached`: the page cache has the values. `turns`: wait
 * for a turn. `window`: first read this many records of its span into the page cache, in the order of the file; with
 * several reads in flight the next two windows are read in the background. */
void tfd_lmdb_set_reading(uint64_t lent, int threads, int cached, int turns, uint64_t window);

/* Let the op fail with a sentence from now on. Calls under way end normally. */
void tfd_lmdb_take_back(uint64_t lent);

/* Return the functions that the op calls, a struct tfd_lmdb_borrowed_calls. */
const void *tfd_lmdb_borrowed_functions(void);

#endif
