#include "offline/lmdb/format.h"

struct mdb_tree mdb_read_tree(const uint8_t *bytes)
{
    return (struct mdb_tree){
        .flags = mdb_u16(bytes + 4),
        .depth = mdb_u16(bytes + 6),
        .branch_pages = mdb_u64(bytes + 8),
        .leaf_pages = mdb_u64(bytes + 16),
        .overflow_pages = mdb_u64(bytes + 24),
        .entries = mdb_u64(bytes + 32),
        .root = mdb_u64(bytes + 40),
    };
}

int64_t mdb_key_count(const struct mdb_page *page)
{
    if (page->size < MDB_PAGE_HEADER_BYTES)
        return -1;
    uint64_t lower = mdb_u16(page->bytes + 12);
    if (lower < MDB_PAGE_HEADER_BYTES)
        return -1;
    uint64_t count = (lower - MDB_PAGE_HEADER_BYTES) / 2;
    /* A page of keys of one size has no pointers: the keys follow the header. */
    uint64_t each = mdb_page_flags(page) & MDB_P_LEAF2 ? mdb_fixed_size(page) : 2;
    return each && MDB_PAGE_HEADER_BYTES + count * each <= page->size ? (int64_t)count : -1;
}

/* Return the offset of a node, 0 if its header is not inside the page. */
static uint64_t node_at(const struct mdb_page *page, int64_t index)
{
    uint64_t at = mdb_u16(page->bytes + MDB_PAGE_HEADER_BYTES + 2 * index);
    return at >= MDB_PAGE_HEADER_BYTES && at + MDB_NODE_HEADER_BYTES <= page->size ? at : 0;
}

bool mdb_branch_child(const struct mdb_page *page, int64_t index, uint64_t *child)
{
    uint64_t at = node_at(page, index);
    if (!at)
        return false;
    *child = mdb_u64(page->bytes + at) & 0xFFFFFFFFFFFFu;
    return true;
}

bool mdb_leaf_node(const struct mdb_page *page, int64_t index, struct mdb_node *node)
{
    uint64_t at = node_at(page, index);
    if (!at)
        return false;
    const uint8_t *bytes = page->bytes + at;
    *node = (struct mdb_node){
        .at = at,
        .value_size = mdb_u32(bytes),
        .flags = mdb_u16(bytes + 4),
        .key_size = mdb_u16(bytes + 6),
        .key = bytes + MDB_NODE_HEADER_BYTES,
    };
    node->value = node->key + node->key_size;
    uint64_t here = node->flags & MDB_F_BIG ? 8 : node->value_size;
    return at + MDB_NODE_HEADER_BYTES + node->key_size + here <= page->size;
}
