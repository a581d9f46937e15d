/* Merges the threads' events by their ends and folds them, and takes at the start the room that this needs. */
#define _GNU_SOURCE
#include "base/clock.h"
#include "counters/fold.h"
#include "counters/fold_state.h"
#include "counters/fold_step.h"
#include "counters/thinning.h"
#include "spool/spool_file.h"

/* Room in the heap from the start. */
#define EXPECTED_THREADS 256u

/* Where the merge is in one thread's events. */
struct cursor {
    uint64_t end; /* ticks, of the next event */
    uint64_t chunk;
    uint32_t thread;
    uint32_t index, next, count; /* places of the next event and of the one after it; places seen published */
    uint32_t is_full;            /* 1: the thread had left this chunk, or had ended, when it was looked at */
};

struct merge {
    struct tfd_spool *spool;
    struct fold_root *root;
    struct cursor *heap; /* the one that ends first is on top */
    uint32_t size;
    uint32_t full;  /* cursors in chunks that are full */
    uint64_t until; /* ticks: of what ended later, other threads' events may not have been looked at */
};

static struct tfd_chunk *chunk_at(const struct merge *merge, const struct cursor *cursor)
{
    return tfd_at(merge->spool, cursor->chunk);
}

/* Calls count when they end, closes when they begin: from then on the descriptor
 * is nobody's. Darshan is told of them at that time too. */
static uint64_t order_of(const struct tfd_event *event)
{
    bool closes = event->operation == TFD_OP_CLOSE || event->operation == TFD_OP_FCLOSE;
    return closes ? event->start : event->end;
}

/* Sees how far the chunk is filled, and returns its successor. The owner links
 * that only when it will add nothing more to the chunk, and has ended then too:
 * so both are read before `count`. */
static uint64_t look(struct merge *merge, struct cursor *cursor)
{
    const struct tfd_chunk *chunk = chunk_at(merge, cursor);
    uint64_t next = __atomic_load_n(&chunk->next, __ATOMIC_ACQUIRE);
    const struct tfd_thread *thread = tfd_thread_at(merge->spool, cursor->thread);
    bool is_full = next || atomic_load_explicit(&thread->ended, memory_order_acquire);
    cursor->count = tfd_chunk_count(chunk);
    merge->full += is_full - cursor->is_full;
    cursor->is_full = is_full;
    return next;
}

/* There is no event behind the last one of an ended thread. */
static bool leave(struct merge *merge, struct cursor *cursor)
{
    merge->full -= cursor->is_full;
    cursor->is_full = 0;
    return false;
}

/* All of the chunk is folded: once that is committed its thread may have it back. */
static void release(const struct merge *merge, struct tfd_chunk *chunk)
{
    struct fold_root *root = merge->root;
    uint64_t bytes = sizeof *chunk + (uint64_t)chunk->capacity * sizeof(tfd_place);
    if (chunk->kept) {
        atomic_fetch_add_explicit(&root->kept_bytes, bytes, memory_order_relaxed);
        return;
    }
    tfd_journal_end(&root->journal);
    atomic_store_explicit(&chunk->released, 1, memory_order_release);
}

static void go_on(struct merge *merge, struct cursor *cursor, uint64_t next)
{
    const struct tfd_chunk *successor = tfd_at(merge->spool, next);
    struct tfd_chunk *left = chunk_at(merge, cursor);
    cursor->chunk = tfd_thread_at(merge->spool, cursor->thread)->fold_chunk = next;
    cursor->index = atomic_load_explicit(&successor->folded, memory_order_relaxed);
    cursor->count = 0;
    if (tfd_is_recording(merge->spool))
        release(merge, left);
}

/* Goes on to the next published event, in this chunk or a later one. */
static bool find_event(struct merge *merge, struct cursor *cursor)
{
    while (cursor->chunk) {
        if (cursor->index >= cursor->count) {
            uint64_t next = look(merge, cursor);
            if (cursor->index >= cursor->count && !next)
                return leave(merge, cursor);
            if (cursor->index >= cursor->count) {
                go_on(merge, cursor, next);
                continue;
            }
        }
        struct tfd_event event;
        cursor->next = tfd_chunk_event(chunk_at(merge, cursor), cursor->index, &event);
        cursor->end = order_of(&event);
        return true;
    }
    return false;
}

static bool first_event(struct merge *merge, uint32_t index, struct cursor *cursor)
{
    const struct tfd_thread *thread = tfd_thread_at(merge->spool, index);
    uint64_t chunk =
        thread->fold_chunk ? thread->fold_chunk : __atomic_load_n(&thread->first_chunk, __ATOMIC_ACQUIRE);
    *cursor = (struct cursor){.chunk = chunk, .thread = index};
    if (chunk)
        cursor->index = atomic_load_explicit(&chunk_at(merge, cursor)->folded, memory_order_relaxed);
    return find_event(merge, cursor);
}

/* The place among `place` and its children of the cursor that ends first. */
static uint32_t first_of_family(const struct merge *merge, uint32_t place)
{
    uint32_t first = place, end = 2 * place + 3 < merge->size ? 2 * place + 3 : merge->size;
    for (uint32_t child = 2 * place + 1; child < end; child++)
        if (merge->heap[child].end < merge->heap[first].end)
            first = child;
    return first;
}

static void sift_down(struct merge *merge, uint32_t place)
{
    uint32_t first;
    while ((first = first_of_family(merge, place)) != place) {
        struct cursor moving = merge->heap[place];
        merge->heap[place] = merge->heap[first];
        merge->heap[first] = moving;
        place = first;
    }
}

static void collect_threads(struct merge *merge, uint32_t thread_count)
{
    merge->size = merge->full = 0;
    for (uint32_t i = 0; i < thread_count; i++)
        if (first_event(merge, i, &merge->heap[merge->size]))
            merge->size++;
    for (uint32_t place = merge->size / 2; place-- > 0;)
        sift_down(merge, place);
}

static void advance_first(struct merge *merge)
{
    struct cursor *first = &merge->heap[0];
    first->index = first->next;
    if (!find_event(merge, first))
        *first = merge->heap[--merge->size];
    if (merge->size > 1)
        sift_down(merge, 0);
}

/* The heap stays in the arena from drain to drain; a successor has twice its size. */
static struct cursor *reserve_heap(struct tfd_spool *spool, struct fold_root *root, uint32_t thread_count)
{
    if (thread_count > root->heap_capacity) {
        uint64_t capacity = root->heap_capacity ? root->heap_capacity : 32;
        while (capacity < thread_count)
            capacity *= 2;
        uint64_t heap = tfd_arena_allocate(spool, capacity * sizeof(struct cursor));
        if (!heap)
            return NULL;
        root->heap = heap;
        root->heap_capacity = capacity;
    }
    return root->heap ? tfd_at(spool, root->heap) : NULL;
}

static bool prepare_overflow_record(struct tfd_spool *spool)
{
    struct fold_record *record;
    struct fold_rare *rare;
    struct fold_stdio *stdio;
    struct fold_direction *direction;
    return tfd_plan_record(spool, TFD_FILE_OVERFLOW, &record) && tfd_plan_rare(spool, record, &rare) &&
           tfd_plan_stdio(spool, record, &stdio) &&
           tfd_plan_direction(spool, record, TFD_CLASS_READ, &direction) &&
           tfd_plan_direction(spool, record, TFD_CLASS_WRITE, &direction);
}

bool tfd_fold_prepare(struct tfd_spool *spool)
{
    struct fold_root *root = tfd_fold_root(spool);
    if (!root || !tfd_journal_reserve(spool, &root->journal, TFD_JOURNAL_BYTES))
        return false;
    for (int i = 0; i < TFD_UNION_COUNT; i++) {
        struct interval_step step;
        struct interval nothing = {0, 0};
        if (!tfd_interval_plan(spool, &root->unions[i], TFD_RECORDER_INTERVALS, nothing, &step))
            return false;
    }
    return reserve_heap(spool, root, EXPECTED_THREADS) && prepare_overflow_record(spool) &&
           tfd_thinning_prepare(spool);
}

enum drained { ALL_EVENTS, FULL_CHUNKS };

/* Returns how many events were folded, -1 where there was no room for one. */
static int64_t fold_in_order(struct merge *merge, uint64_t limit, enum drained drained,
                             enum fold_full when_full)
{
    uint64_t folded = 0;
    while (folded < limit && merge->size && merge->heap[0].end <= merge->until &&
           (drained == ALL_EVENTS || merge->full)) {
        const struct cursor *first = &merge->heap[0];
        if (!tfd_fold_event(merge->spool, merge->root, chunk_at(merge, first), first->thread, first->index,
                            when_full))
            return -1;
        folded++;
        advance_first(merge);
    }
    return (int64_t)folded;
}

static int64_t drain(struct tfd_spool *spool, uint64_t limit, enum drained drained, enum fold_full when_full)
{
    uint32_t thread_count = atomic_load_explicit(&spool->header->thread_count, memory_order_acquire);
    struct fold_root *root = thread_count ? tfd_fold_root(spool) : NULL;
    if (!thread_count)
        return 0;
    struct merge merge = {
        .spool = spool, .root = root, .until = drained == ALL_EVENTS ? UINT64_MAX : tfd_ticks()};
    if (!root || !(merge.heap = reserve_heap(spool, root, thread_count)))
        return -1;
    collect_threads(&merge, thread_count);
    int64_t folded = fold_in_order(&merge, limit, drained, when_full);
    if (tfd_is_recording(spool))
        tfd_journal_end(&root->journal);
    return folded;
}

int64_t tfd_drain(struct tfd_spool *spool, uint64_t limit)
{
    return drain(spool, limit, ALL_EVENTS, FOLD_FULL_SHARES_A_ROW);
}

int64_t tfd_drain_full(struct tfd_spool *spool, uint64_t limit)
{
    return drain(spool, limit, FULL_CHUNKS, FOLD_FULL_SHARES_A_ROW);
}

static const struct fold_root *root_of(const struct tfd_spool *spool)
{
    return tfd_at(spool, atomic_load(&spool->header->fold));
}

uint64_t tfd_fold_count(const struct tfd_spool *spool)
{
    return root_of(spool)->totals.events;
}

uint64_t tfd_fold_kept_bytes(const struct tfd_spool *spool)
{
    return atomic_load_explicit(&root_of(spool)->kept_bytes, memory_order_relaxed);
}

void tfd_fold_finish(struct tfd_spool *spool)
{
    const struct fold_root *root = tfd_fold_root(spool);
    if (root && root->totals.events && !atomic_load(&spool->header->spool_full))
        drain(spool, UINT64_MAX, ALL_EVENTS, FOLD_FULL_STOPS);
}
