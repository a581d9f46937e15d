/* Walks a tree level by level. Many pages of a level are read at once, in the order of the file. */
#ifndef TFD_LMDB_WALK_H
#define TFD_LMDB_WALK_H

#include "offline/lmdb/environment.h"

struct tfd_lmdb_walk {
    const struct tfd_lmdb *file;
    struct tfd_lmdb_found *found;
    struct tfd_lmdb_error *error;
    int threads;
    uint64_t pages_left; /* a limit, since pages of a damaged file may form a circle */
};

/* Called with each leaf page, in the order of keys. */
typedef int (*tfd_lmdb_leaf)(struct tfd_lmdb_walk *walk, const struct mdb_page *page, void *context);

int tfd_lmdb_walk_tree(struct tfd_lmdb_walk *walk, const struct mdb_tree *tree, tfd_lmdb_leaf leaf,
                       void *context);

/* Fail because a page is damaged; return -1. */
int tfd_lmdb_fail_page(struct tfd_lmdb_walk *walk, uint64_t number, const char *why);
int tfd_lmdb_fail_memory(struct tfd_lmdb_walk *walk);

#endif
