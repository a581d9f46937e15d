#define _GNU_SOURCE
#include "offline/lmdb/scatter.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "offline/lmdb/read_call.h"
#include "offline/lmdb/team.h"

enum {
    GAP_BYTES = 64 << 10, /* a smaller gap between pieces is read and dropped */
    CACHED_GAP_BYTES = 4 << 10,
    MOST_PIECES = 300, /* of a call without a copy: 3 vectors each, of IOV_MAX */
    SMALL_PIECE_BYTES = 2048,
    AHEAD_CALL_BYTES = 128 << 10, /* call for which the kernel reads ahead, in order, to avoid seeks */
    LEAST_CALL_BYTES = 256 << 10,
    COPIED_CALL_BYTES = 1 << 20, /* copied bytes should still be in the processor's cache */
    MOST_CALL_BYTES = 4 << 20,
};

static int by_offset(const void *left, const void *right)
{
    const struct tfd_lmdb_piece *a = left, *b = right;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

/* Sort the pieces; return the sum of their sizes. */
static uint64_t sort_pieces(struct tfd_lmdb_piece *pieces, size_t count)
{
    bool sorted = true;
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++) {
        sorted &= !i || pieces[i - 1].offset <= pieces[i].offset;
        total += pieces[i].size;
    }
    if (!sorted)
        qsort(pieces, count, sizeof *pieces, by_offset);
    return total;
}

static uint64_t begin_of(const struct tfd_lmdb_piece *piece)
{
    return piece->offset - (piece->head ? TFD_LMDB_HEAD_BYTES : 0);
}

struct limits {
    uint64_t gap;
    uint64_t bytes;
    size_t pieces;
};

static bool fits(const struct tfd_lmdb_call *call, const struct tfd_lmdb_piece *piece, struct limits limits)
{
    uint64_t begin = begin_of(piece), end = call->offset + call->size;
    return begin >= end && begin - end <= limits.gap && call->count < limits.pieces &&
           piece->offset + piece->size - call->offset <= limits.bytes;
}

/* Merge sorted pieces into calls; return the number of calls. */
static size_t plan(const struct tfd_lmdb_piece *pieces, size_t count, struct limits limits,
                   struct tfd_lmdb_call *calls)
{
    size_t made = 0;
    for (size_t i = 0; i < count; i++) {
        if (!made || !fits(&calls[made - 1], &pieces[i], limits))
            calls[made++] = (struct tfd_lmdb_call){.pieces = &pieces[i], .offset = begin_of(&pieces[i])};
        struct tfd_lmdb_call *call = &calls[made - 1];
        call->count++;
        call->size = pieces[i].offset + pieces[i].size - call->offset;
    }
    return made;
}

static struct limits limits_of(uint64_t total, bool copied, bool direct, int threads, bool cached)
{
    uint64_t most = copied && !direct ? COPIED_CALL_BYTES : MOST_CALL_BYTES;
    uint64_t share = total / (uint64_t)(threads > 0 ? threads : 1);
    uint64_t bytes = !threads                   ? AHEAD_CALL_BYTES
                     : share < LEAST_CALL_BYTES ? LEAST_CALL_BYTES
                     : share > most             ? most
                                                : share;
    return (struct limits){.gap = cached ? CACHED_GAP_BYTES : GAP_BYTES,
                           .bytes = bytes,
                           .pieces = copied ? SIZE_MAX : MOST_PIECES};
}

/* If most of the range is read, have the kernel read ahead twice as far (POSIX_FADV_SEQUENTIAL). */
static void read_ahead_of(int fd, const struct tfd_lmdb_piece *pieces, size_t count, uint64_t total)
{
    const struct tfd_lmdb_piece *last = &pieces[count - 1];
    bool is_whole = (last->offset + last->size - pieces->offset) / 2 < total;
    (void)posix_fadvise(fd, 0, 0, is_whole ? POSIX_FADV_SEQUENTIAL : POSIX_FADV_NORMAL);
}

int tfd_lmdb_scatter(int fd, int direct_fd, struct tfd_lmdb_piece *pieces, size_t count, int threads,
                     bool cached, struct tfd_lmdb_error *error)
{
    if (!count)
        return 0;
    uint64_t total = sort_pieces(pieces, count);
    bool copied = direct_fd >= 0 || !pieces->to || total / count < SMALL_PIECE_BYTES;
    struct tfd_lmdb_call *calls = malloc(count * sizeof *calls);
    if (!calls)
        return tfd_lmdb_fail_system(error, ENOMEM, "no memory to plan reads");
    if (!threads)
        read_ahead_of(fd, pieces, count, total);
    struct limits limits = limits_of(total, copied, direct_fd >= 0, threads, cached);
    struct tfd_lmdb_work work = {.fd = fd, .direct_fd = direct_fd, .copied = copied, .calls = calls};
    work.count = plan(pieces, count, limits, calls);
    for (size_t i = 0; i < work.count; i++)
        work.largest = calls[i].size > work.largest ? calls[i].size : work.largest;
    int result = tfd_lmdb_team_run(&work, threads, error);
    free(calls);
    return result;
}
