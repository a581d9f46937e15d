/* Pages of an LMDB database, byte by byte as LMDB 0.9 lays them out. */
#ifndef LMDB_PAGES_H
#define LMDB_PAGES_H

#include "check.h"

enum {
    BRANCH = 1,
    LEAF = 2,
    OVERFLOW = 4,
    META = 8,
    LEAF2 = 0x20,
    SUBPAGE = 0x40,
    BIG = 1,
    TREE = 2,
    DUPLICATES = 4,
};

/* The main database, of a file that has so many pages. */
struct tree {
    unsigned depth;
    uint64_t entries;
    uint64_t root;
    uint64_t pages;
};

static inline void put16(uint8_t *at, unsigned value)
{
    uint16_t given = (uint16_t)value;
    memcpy(at, &given, sizeof given);
}

static inline void put64(uint8_t *at, uint64_t value)
{
    memcpy(at, &value, sizeof value);
}

static inline void begin_page(uint8_t *page, uint64_t number, unsigned flags, unsigned size)
{
    put64(page, number);
    put16(page + 10, flags);
    put16(page + 12, 16);
    put16(page + 14, size);
}

/* Adds a node behind the others; returns where its value goes. */
static inline uint8_t *add_node(uint8_t *page, unsigned flags, const char *key, const void *value,
                                unsigned size, unsigned stored)
{
    uint16_t lower, upper;
    memcpy(&lower, page + 12, sizeof lower);
    memcpy(&upper, page + 14, sizeof upper);
    unsigned key_size = (unsigned)strlen(key);
    upper = (uint16_t)(upper - ((8 + key_size + stored + 1) & ~1u));
    CHECK(upper >= lower + 2);
    put16(page + lower, upper);
    put16(page + 12, lower + 2u);
    put16(page + 14, upper);
    uint8_t *node = page + upper;
    put16(node, size & 0xffff);
    put16(node + 2, size >> 16);
    put16(node + 4, flags);
    put16(node + 6, key_size);
    memcpy(node + 8, key, key_size);
    if (stored)
        memcpy(node + 8 + key_size, value, stored);
    return node + 8 + key_size;
}

static inline void put_tree(uint8_t *at, unsigned depth, uint64_t entries, uint64_t root)
{
    memset(at, 0, 48);
    put16(at + 6, depth);
    put64(at + 32, entries);
    put64(at + 40, root);
}

/* The first of a value's own pages. */
static inline void begin_overflow(uint8_t *page, uint64_t number, unsigned pages)
{
    begin_page(page, number, OVERFLOW, 0);
    put64(page + 8, (uint64_t)pages << 32 | OVERFLOW << 16);
}

static inline void put_meta(uint8_t *page, unsigned page_bytes, uint64_t number, uint64_t transaction,
                            struct tree tree)
{
    uint8_t *meta = page + 16;
    begin_page(page, number, META, page_bytes);
    memcpy(meta, "\xDE\xC0\xEF\xBE\x01", 5);
    put64(meta + 16, tree.pages * page_bytes);
    put_tree(meta + 24, 0, 0, UINT64_MAX);
    put16(meta + 24, page_bytes);
    put_tree(meta + 72, tree.depth, tree.entries, tree.root);
    put64(meta + 120, tree.pages - 1);
    put64(meta + 128, transaction);
}

#endif
