/* The layout of LMDB's data version 1 on 64-bit little-endian machines, as lmdb/mdb.c of LMDB 0.9 writes it. */
#ifndef TFD_LMDB_FORMAT_H
#define TFD_LMDB_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    MDB_PAGE_HEADER_BYTES = 16, /* page number 8, fixed size 2, flags 2, lower 2 and upper 2 or pages 4 */
    MDB_NODE_HEADER_BYTES = 8,  /* low 2, high 2, flags 2, key size 2 */
    MDB_TREE_BYTES = 48,
    MDB_META_BYTES = 136, /* after a page's header */
    MDB_DEEPEST = 32,
    MDB_SMALLEST_PAGE = 256,
    MDB_LARGEST_PAGE = 65536,

    MDB_P_BRANCH = 1,
    MDB_P_LEAF = 2,
    MDB_P_OVERFLOW = 4,
    MDB_P_META = 8,
    MDB_P_KINDS = 15,
    MDB_P_LEAF2 = 0x20, /* keys of one size, without nodes */
    MDB_P_SUBPAGE = 0x40,

    MDB_F_BIG = 1, /* the value has overflow pages of its own */
    MDB_F_TREE = 2,
    MDB_F_DUPLICATES = 4,
    MDB_F_KNOWN = 7,
};

#define MDB_MAGIC 0xBEEFC0DEu
#define MDB_NO_PAGE UINT64_MAX

/* A page, or a page within a node. Nothing outside of `size` bytes is read. */
struct mdb_page {
    const uint8_t *bytes;
    uint64_t size;
    uint64_t number;
    uint64_t offset; /* in the file */
};

struct mdb_node {
    uint64_t at; /* in its page */
    uint32_t value_size;
    uint16_t flags;
    uint16_t key_size;
    const uint8_t *key;
    const uint8_t *value;
};

/* MDB_db. */
struct mdb_tree {
    uint64_t flags, depth, branch_pages, leaf_pages, overflow_pages, entries, root;
};

static inline uint16_t mdb_u16(const uint8_t *at)
{
    uint16_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline uint32_t mdb_u32(const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline uint64_t mdb_u64(const uint8_t *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline uint16_t mdb_page_flags(const struct mdb_page *page)
{
    return mdb_u16(page->bytes + 10);
}

static inline uint16_t mdb_fixed_size(const struct mdb_page *page)
{
    return mdb_u16(page->bytes + 8);
}

struct mdb_tree mdb_read_tree(const uint8_t *bytes);

/* Return the number of keys of a page, -1 if a pointer leaves the page. */
int64_t mdb_key_count(const struct mdb_page *page);

/* Find the child of a branch page's node; return false if the node is not inside the page. */
bool mdb_branch_child(const struct mdb_page *page, int64_t index, uint64_t *child);

/* Find a leaf page's node; return false if it is not inside the page. */
bool mdb_leaf_node(const struct mdb_page *page, int64_t index, struct mdb_node *node);

#endif
