/* Finds the records of a database and the place of each value, without reading the values. */
#include <inttypes.h>
#include <stdlib.h>

#include "offline/lmdb/failure.h"
#include "offline/lmdb/walk.h"

/* What is indexed: a database, or the duplicates of `key`. */
struct indexed {
    const struct mdb_tree *tree;
    bool duplicates;
    struct tfd_lmdb_record key; /* only its key and key_size are set */
    uint64_t first;             /* number of records before this */
};

static int add(struct tfd_lmdb_walk *walk, const struct indexed *into, struct tfd_lmdb_record record)
{
    if (walk->found->count - into->first >= into->tree->entries)
        return tfd_lmdb_fail(walk->error, TFD_LMDB_DAMAGED,
                             "is damaged: a tree has more records than the %" PRIu64 " that it names",
                             into->tree->entries);
    return tfd_lmdb_add_record(walk->found, &record) ? tfd_lmdb_fail_memory(walk) : 0;
}

static struct tfd_lmdb_record record_at(const struct tfd_lmdb_record *key, uint64_t offset, uint32_t size)
{
    return (struct tfd_lmdb_record){
        .offset = offset, .key = key->key, .size = size, .key_size = key->key_size};
}

/* Add duplicates of one size, which are stored in a row. */
static int add_fixed(struct tfd_lmdb_walk *walk, const struct indexed *into, const struct mdb_page *page,
                     const struct tfd_lmdb_record *key)
{
    uint16_t size = mdb_fixed_size(page);
    for (uint64_t i = 0, count = (uint64_t)mdb_key_count(page); i < count; i++)
        if (add(walk, into, record_at(key, page->offset + MDB_PAGE_HEADER_BYTES + i * size, size)))
            return -1;
    return 0;
}

/* Add duplicates, which are the keys of a page or tree of their own. */
static int add_duplicates(struct tfd_lmdb_walk *walk, const struct indexed *into, const struct mdb_page *page,
                          const struct tfd_lmdb_record *key)
{
    int64_t count = mdb_key_count(page);
    if (count < 0 || (mdb_page_flags(page) & MDB_P_KINDS) != MDB_P_LEAF)
        return tfd_lmdb_fail_page(walk, page->number, "has duplicates that leave it");
    if (mdb_page_flags(page) & MDB_P_LEAF2)
        return add_fixed(walk, into, page, key);
    uint64_t used = MDB_PAGE_HEADER_BYTES + 2 * (uint64_t)count;
    for (int64_t i = 0; i < count; i++) {
        struct mdb_node node;
        if (!mdb_leaf_node(page, i, &node) || node.flags || node.value_size ||
            (used += MDB_NODE_HEADER_BYTES + (uint64_t)node.key_size) > page->size)
            return tfd_lmdb_fail_page(walk, page->number, "has a duplicate that leaves it");
        uint64_t offset = page->offset + node.at + MDB_NODE_HEADER_BYTES;
        if (add(walk, into, record_at(key, offset, node.key_size)))
            return -1;
    }
    return 0;
}

static int duplicates_leaf(struct tfd_lmdb_walk *walk, const struct mdb_page *page, void *context)
{
    const struct indexed *into = context;
    return add_duplicates(walk, into, page, &into->key);
}

static int add_duplicate_tree(struct tfd_lmdb_walk *walk, const struct mdb_page *page,
                              const struct mdb_node *node, const struct tfd_lmdb_record *key)
{
    if (node->value_size != MDB_TREE_BYTES)
        return tfd_lmdb_fail_page(walk, page->number, "describes a tree of duplicates wrongly");
    struct mdb_tree tree = mdb_read_tree(node->value);
    struct indexed into = {.tree = &tree, .duplicates = true, .key = *key, .first = walk->found->count};
    if (tfd_lmdb_walk_tree(walk, &tree, duplicates_leaf, &into))
        return -1;
    if (walk->found->count - into.first != tree.entries)
        return tfd_lmdb_fail_page(walk, page->number, "names another number of duplicates than there are");
    return 0;
}

static int add_big(struct tfd_lmdb_walk *walk, const struct indexed *into, const struct mdb_page *page,
                   const struct mdb_node *node, const struct tfd_lmdb_record *key)
{
    uint64_t first = mdb_u64(node->value), bytes = walk->file->page_bytes;
    uint64_t pages = (MDB_PAGE_HEADER_BYTES + (uint64_t)node->value_size + bytes - 1) / bytes;
    if (first < 2 || !tfd_lmdb_has_pages(walk->file, first, pages))
        return tfd_lmdb_fail_page(walk, page->number, "names pages of a value that are not in the file");
    struct tfd_lmdb_record record = record_at(key, first * bytes + MDB_PAGE_HEADER_BYTES, node->value_size);
    record.flags = TFD_LMDB_IN_PAGES;
    return add(walk, into, record);
}

static int add_node(struct tfd_lmdb_walk *walk, const struct indexed *into, const struct mdb_page *page,
                    const struct mdb_node *node)
{
    struct tfd_lmdb_record key = {.key = walk->found->key_bytes, .key_size = node->key_size};
    if (tfd_lmdb_add_key(walk->found, node->key, node->key_size))
        return tfd_lmdb_fail_memory(walk);
    uint64_t offset = page->offset + (uint64_t)(node->value - page->bytes);
    switch (node->flags) {
    case 0:
        return add(walk, into, record_at(&key, offset, node->value_size));
    case MDB_F_BIG:
        return add_big(walk, into, page, node, &key);
    case MDB_F_TREE:
        key.flags = TFD_LMDB_SUB_DATABASE;
        key.offset = offset;
        key.size = node->value_size;
        return add(walk, into, key);
    case MDB_F_DUPLICATES: {
        struct mdb_page inner = {node->value, node->value_size, page->number, offset};
        return add_duplicates(walk, into, &inner, &key);
    }
    case MDB_F_DUPLICATES | MDB_F_TREE:
        return add_duplicate_tree(walk, page, node, &key);
    default:
        return tfd_lmdb_fail_page(walk, page->number, "has a node of an unknown kind");
    }
}

static int database_leaf(struct tfd_lmdb_walk *walk, const struct mdb_page *page, void *context)
{
    const struct indexed *into = context;
    if (mdb_page_flags(page) & MDB_P_LEAF2)
        return tfd_lmdb_fail_page(walk, page->number, "has keys without values");
    int64_t count = mdb_key_count(page);
    uint64_t used = MDB_PAGE_HEADER_BYTES + 2 * (uint64_t)count;
    for (int64_t i = 0; i < count; i++) {
        struct mdb_node node;
        if (!mdb_leaf_node(page, i, &node))
            return tfd_lmdb_fail_page(walk, page->number, "has a node outside of it");
        /* Nodes of a damaged page may share bytes and hold more than the page. */
        used +=
            (uint64_t)(node.value - (page->bytes + node.at)) + (node.flags & MDB_F_BIG ? 8 : node.value_size);
        if (used > page->size)
            return tfd_lmdb_fail_page(walk, page->number, "has nodes that overlap");
        if (add_node(walk, into, page, &node))
            return -1;
    }
    return 0;
}

static int index_tree(struct tfd_lmdb *file, const struct mdb_tree *tree, int threads,
                      struct tfd_lmdb_error *error)
{
    tfd_lmdb_forget(&file->found);
    struct tfd_lmdb_walk walk = {
        .file = file,
        .found = &file->found,
        .error = error,
        .threads = threads,
        .pages_left = file->last_page + 1,
    };
    struct indexed into = {.tree = tree};
    if (tfd_lmdb_walk_tree(&walk, tree, database_leaf, &into))
        return -1;
    if (file->found.count != tree->entries)
        return tfd_lmdb_fail(error, TFD_LMDB_DAMAGED,
                             "is damaged: its tree has %zu records and names %" PRIu64, file->found.count,
                             tree->entries);
    return 0;
}

/* Find a sub-database among the records of the main database. */
static int find_tree(const struct tfd_lmdb *file, const char *name, size_t name_size, struct mdb_tree *tree,
                     struct tfd_lmdb_error *error)
{
    const struct tfd_lmdb_found *found = &file->found;
    for (size_t i = 0; i < found->count; i++) {
        const struct tfd_lmdb_record *record = &found->records[i];
        if (!(record->flags & TFD_LMDB_SUB_DATABASE) || record->key_size != name_size ||
            memcmp(found->keys + record->key, name, name_size))
            continue;
        uint8_t bytes[MDB_TREE_BYTES];
        if (record->size != sizeof bytes)
            return tfd_lmdb_fail(error, TFD_LMDB_DAMAGED, "is damaged: it describes a sub-database wrongly");
        if (tfd_lmdb_read_bytes(file->fd, bytes, sizeof bytes, record->offset, error))
            return -1;
        *tree = mdb_read_tree(bytes);
        return 0;
    }
    return tfd_lmdb_fail(error, TFD_LMDB_MISSING, "has no sub-database of this name");
}

int tfd_lmdb_index(struct tfd_lmdb *file, const char *name, size_t name_size, int threads,
                   struct tfd_lmdb_error *error)
{
    struct mdb_tree tree = file->main;
    int result = index_tree(file, &tree, threads, error);
    if (!result && name)
        result = find_tree(file, name, name_size, &tree, error);
    if (!result && name)
        result = index_tree(file, &tree, threads, error);
    if (result)
        tfd_lmdb_forget(&file->found);
    else
        file->indexed = tree;
    return result;
}
