/* A database with each kind of page and node, byte by byte as LMDB 0.9 lays it out, and what reads all of it. */
#ifndef LMDB_IMAGE_H
#define LMDB_IMAGE_H

#include "check.h"
#include "lmdb_pages.h"
#include "offline/lmdb/lmdb.h"

enum {
    LARGEST_PAGE = 4096,
    PAGES = 11,
    RECORDS = 13,
};

enum access { BUFFERED, DIRECT, MAPPED, ACCESSES };

static uint8_t image[PAGES * LARGEST_PAGE];
static unsigned page_bytes;

static inline size_t image_bytes(void)
{
    return (size_t)PAGES * page_bytes;
}

/* Of a value that has two pages of its own. */
static inline unsigned big_bytes(void)
{
    return 2 * page_bytes - 224;
}

static inline void make_meta(uint64_t number, uint64_t transaction)
{
    put_meta(image + number * page_bytes, page_bytes, number, transaction,
             (struct tree){.depth = 2, .entries = RECORDS, .root = 2, .pages = PAGES});
}

static inline void make_branch(void)
{
    uint8_t *page = image + 2 * page_bytes;
    begin_page(page, 2, BRANCH, page_bytes);
    add_node(page, 0, "", NULL, 3, 0);
    add_node(page, 0, "c", NULL, 4, 0);
}

static inline void make_values(void)
{
    uint8_t *page = image + 3 * page_bytes, number[8];
    begin_page(page, 3, LEAF, page_bytes);
    add_node(page, 0, "a", "a value of 20 bytes.", 20, 20);
    put64(number, 5);
    add_node(page, BIG, "b", number, big_bytes(), 8);
    uint8_t *big = image + 5 * page_bytes;
    begin_overflow(big, 5, 2);
    memset(big + 16, 'B', big_bytes());
}

/* Duplicates with nodes, of one size, and in a tree of their own; a sub-database. */
static inline void make_duplicates(void)
{
    uint8_t *page = image + 4 * page_bytes, inner[64] = {0}, tree[48];
    begin_page(page, 4, LEAF, page_bytes);
    begin_page(inner, 4, LEAF | SUBPAGE, sizeof inner);
    add_node(inner, 0, "x", NULL, 0, 0);
    add_node(inner, 0, "yy", NULL, 0, 0);
    add_node(page, DUPLICATES, "c", inner, sizeof inner, sizeof inner);
    begin_page(inner, 4, LEAF | LEAF2 | SUBPAGE, sizeof inner);
    put16(inner + 8, 4);
    put16(inner + 12, 16 + 3 * 2);
    memcpy(inner + 16, "111122223333", 12);
    add_node(page, DUPLICATES, "d", inner, 28, 28);
    put_tree(tree, 1, 5, 7);
    add_node(page, DUPLICATES | TREE, "e", tree, sizeof tree, sizeof tree);
    put_tree(tree, 2, 2, 8);
    add_node(page, TREE, "f", tree, sizeof tree, sizeof tree);
    page = image + 7 * page_bytes;
    begin_page(page, 7, LEAF | LEAF2, page_bytes);
    put16(page + 8, 8);
    put16(page + 12, 16 + 5 * 2);
    memset(page + 16, 'E', 5 * 8);
}

/* What "f" names: a tree of two levels. */
static inline void make_sub_database(void)
{
    uint8_t *page = image + 8 * page_bytes;
    begin_page(page, 8, BRANCH, page_bytes);
    add_node(page, 0, "", NULL, 9, 0);
    add_node(page, 0, "l", NULL, 10, 0);
    page = image + 9 * page_bytes;
    begin_page(page, 9, LEAF, page_bytes);
    add_node(page, 0, "k", "v", 1, 1);
    page = image + 10 * page_bytes;
    begin_page(page, 10, LEAF, page_bytes);
    add_node(page, 0, "l", "w", 1, 1);
}

static inline void check_error(const struct tfd_lmdb_error *error)
{
    CHECK(error->kind >= TFD_LMDB_DAMAGED && error->kind <= TFD_LMDB_FOREIGN);
    CHECK(error->text[0] && memchr(error->text, '\0', sizeof error->text));
}

/* Reads all records, in an order that is not theirs; returns their bytes, or -1. */
static inline int64_t read_all(struct tfd_lmdb *file, int cached, char **values)
{
    struct tfd_lmdb_error error = {0};
    size_t count = tfd_lmdb_count(file);
    const struct tfd_lmdb_record *records = tfd_lmdb_records(file);
    uint64_t *numbers = calloc(count + 1, sizeof *numbers), size = 0;
    uint64_t *places = calloc(count + 1, sizeof *places);
    for (size_t i = 0; i < count; i++) {
        numbers[i] = count - 1 - i;
        places[i] = size;
        size += records[count - 1 - i].size;
    }
    if (size > sizeof image * RECORDS) {
        /* Damage names more than the file has: that is for another call to find. */
        free(numbers);
        free(places);
        *values = NULL;
        return -1;
    }
    *values = calloc(size + 1, 1);
    int failed = tfd_lmdb_read(file, numbers, places, count, *values, size, 3, cached, &error);
    if (failed)
        check_error(&error);
    free(numbers);
    free(places);
    return failed ? -1 : (int64_t)size;
}

static inline int64_t look(const char *path, const char *name, enum access access, char **values)
{
    struct tfd_lmdb_error error = {0};
    *values = NULL;
    struct tfd_lmdb *file = tfd_lmdb_open(path, access == DIRECT, &error);
    int64_t result = -1;
    if (!file || tfd_lmdb_index(file, name, name ? strlen(name) : 0, 3, &error))
        check_error(&error);
    else
        result = read_all(file, access == MAPPED, values);
    tfd_lmdb_close(file);
    return result;
}

static inline void make_image(unsigned bytes)
{
    memset(image, 0, sizeof image);
    page_bytes = bytes;
    make_meta(0, 6);
    make_meta(1, 7);
    make_branch();
    make_values();
    make_duplicates();
    make_sub_database();
}

#endif
