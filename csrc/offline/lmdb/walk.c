#include "offline/lmdb/walk.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "offline/lmdb/failure.h"
#include "offline/lmdb/scatter.h"

enum { WINDOW_BYTES = 16 << 20 };

/* Several pages of one level in memory. */
struct window {
    uint8_t *bytes;
    struct tfd_lmdb_piece *pieces;
    size_t room; /* pages */
};

int tfd_lmdb_fail_page(struct tfd_lmdb_walk *walk, uint64_t number, const char *why)
{
    return tfd_lmdb_fail(walk->error, TFD_LMDB_DAMAGED, "is damaged: page %" PRIu64 " %s", number, why);
}

int tfd_lmdb_fail_memory(struct tfd_lmdb_walk *walk)
{
    return tfd_lmdb_fail_system(walk->error, ENOMEM, "no memory for its index");
}

static int make_window(struct tfd_lmdb_walk *walk, struct window *window, size_t pages)
{
    size_t most = WINDOW_BYTES / walk->file->page_bytes;
    window->room = pages < most ? pages : most;
    window->bytes = malloc(window->room * walk->file->page_bytes);
    window->pieces = malloc(window->room * sizeof *window->pieces);
    return window->bytes && window->pieces ? 0 : tfd_lmdb_fail_memory(walk);
}

static int read_window(struct tfd_lmdb_walk *walk, struct window *window, const uint64_t *numbers,
                       size_t count)
{
    uint64_t bytes = walk->file->page_bytes;
    for (size_t i = 0; i < count; i++)
        window->pieces[i] =
            (struct tfd_lmdb_piece){numbers[i] * bytes, bytes, window->bytes + i * bytes, NULL};
    return tfd_lmdb_scatter(walk->file->fd, -1, window->pieces, count, walk->threads, false, walk->error);
}

static int check_page(struct tfd_lmdb_walk *walk, const struct mdb_page *page, int kind)
{
    if (mdb_u64(page->bytes) != page->number)
        return tfd_lmdb_fail_page(walk, page->number, "bears another page's number");
    if ((mdb_page_flags(page) & MDB_P_KINDS) != kind)
        return tfd_lmdb_fail_page(walk, page->number,
                                  kind == MDB_P_LEAF ? "is not a leaf page" : "is not a branch page");
    if (mdb_key_count(page) < 1)
        return tfd_lmdb_fail_page(walk, page->number, "has no room for its keys");
    return 0;
}

/* Count a page to read; fail if it is not in the file. */
static int enter(struct tfd_lmdb_walk *walk, uint64_t number)
{
    if (number < 2 || !tfd_lmdb_has_pages(walk->file, number, 1))
        return tfd_lmdb_fail_page(walk, number, "is named by its tree but is not in the file");
    if (!walk->pages_left)
        return tfd_lmdb_fail(walk->error, TFD_LMDB_DAMAGED,
                             "is damaged: its tree has more pages than the file");
    walk->pages_left--;
    return 0;
}

static int add_children(struct tfd_lmdb_walk *walk, const struct mdb_page *page, void *context)
{
    struct tfd_lmdb_pages *children = context;
    for (int64_t i = 0, count = mdb_key_count(page); i < count; i++) {
        uint64_t child;
        if (!mdb_branch_child(page, i, &child))
            return tfd_lmdb_fail_page(walk, page->number, "has a node outside of it");
        if (enter(walk, child))
            return -1;
        if (tfd_lmdb_add_page(children, child))
            return tfd_lmdb_fail_memory(walk);
    }
    return 0;
}

/* Call `visit` with each page of a level, in order. */
static int walk_level(struct tfd_lmdb_walk *walk, const struct tfd_lmdb_pages *level, int kind,
                      tfd_lmdb_leaf visit, void *context)
{
    struct window window = {0};
    int result = make_window(walk, &window, level->count);
    for (size_t first = 0; !result && first < level->count; first += window.room) {
        size_t count = level->count - first < window.room ? level->count - first : window.room;
        result = read_window(walk, &window, level->numbers + first, count);
        for (size_t i = 0; !result && i < count; i++) {
            uint64_t number = level->numbers[first + i], bytes = walk->file->page_bytes;
            struct mdb_page page = {window.bytes + i * bytes, bytes, number, number * bytes};
            result = check_page(walk, &page, kind);
            if (!result)
                result = visit(walk, &page, context);
        }
    }
    free(window.bytes);
    free(window.pieces);
    return result;
}

int tfd_lmdb_walk_tree(struct tfd_lmdb_walk *walk, const struct mdb_tree *tree, tfd_lmdb_leaf leaf,
                       void *context)
{
    if (tree->root == MDB_NO_PAGE && !tree->entries)
        return 0;
    if (!tree->depth || tree->depth > MDB_DEEPEST)
        return tfd_lmdb_fail(walk->error, TFD_LMDB_DAMAGED, "is damaged: a tree has %" PRIu64 " levels",
                             tree->depth);
    struct tfd_lmdb_pages level = {0}, below = {0};
    int result = enter(walk, tree->root);
    if (!result && tfd_lmdb_add_page(&level, tree->root))
        result = tfd_lmdb_fail_memory(walk);
    for (uint64_t depth = 1; !result && depth < tree->depth; depth++) {
        result = walk_level(walk, &level, MDB_P_BRANCH, add_children, &below);
        struct tfd_lmdb_pages done = level;
        level = below;
        below = (struct tfd_lmdb_pages){.numbers = done.numbers, .room = done.room};
    }
    if (!result)
        result = walk_level(walk, &level, MDB_P_LEAF, leaf, context);
    free(level.numbers);
    free(below.numbers);
    return result;
}
