/* Where a thread's events go: its record in the spool, and the chunks it fills, folds and uses again. */
#define _GNU_SOURCE
#include "recorder/thread_chunks.h"

#include <string.h>

#include "counters/fold.h"
#include "counters/thinning.h"
#include "recorder/ended_threads.h"
#include "recorder/fold_thread.h"
#include "recorder/other_traffic.h"
#include "recorder/session.h"
#include "recorder/slots.h"
#include "spool/fold_room.h"
#include "spool/memory_cap.h"
#include "spool/spool_file.h"

#define FIRST_CHUNK_BYTES TFD_CHUNK_BYTES(0)
#define RECYCLED_CHUNK_BYTES TFD_CHUNK_BYTES(2)
#define LARGEST_CHUNK_BYTES TFD_CHUNK_BYTES(TFD_CHUNK_SIZES - 1)
#define FOLD_BATCH_EVENTS 65536u

/* For threads that get no chunk of their own any more: one chunk, under the fold lock. */
static struct tfd_chunk *shared_chunk;
/* The chunk of a thread that has none yet: always full. */
static struct tfd_chunk no_chunk = {.kept = 1};

/* Thread record 0 is the shared chunk's. */
static struct tfd_thread *add_thread(struct tfd_spool *spool, int32_t tid, const char *name)
{
    struct tfd_spool_header *header = spool->header;
    uint32_t index = atomic_load(&header->thread_count), within;
    if (index >= TFD_MAX_THREADS)
        return NULL;
    uint32_t segment = tfd_segment_of(index, TFD_THREADS_IN_FIRST_SEGMENT, &within);
    uint64_t *offset = &header->thread_segments[segment];
    if (!*offset)
        *offset = tfd_arena_allocate_leaving(
            spool, ((uint64_t)TFD_THREADS_IN_FIRST_SEGMENT << segment) * sizeof(struct tfd_thread),
            tfd_fold_reserve_bytes(spool));
    if (!*offset)
        return NULL;
    struct tfd_thread *thread = tfd_thread_at(spool, index);
    thread->tid = tid;
    strncpy(thread->name, name, sizeof thread->name - 1);
    atomic_store(&header->thread_count, index + 1);
    return thread;
}

/* Where the thread's next chunk will be linked. */
static uint64_t *last_link(const struct tfd_spool *spool, struct tfd_thread *thread)
{
    return thread->current_chunk ? &((struct tfd_chunk *)tfd_at(spool, thread->current_chunk))->next
                                 : &thread->first_chunk;
}

/* Who folds takes what it finds behind the link for complete. */
static void link_last(const struct tfd_spool *spool, struct tfd_thread *thread, uint64_t offset)
{
    __atomic_store_n(last_link(spool, thread), offset, __ATOMIC_RELEASE);
    thread->current_chunk = offset;
}

static struct tfd_chunk *add_chunk(struct tfd_spool *spool, struct tfd_thread *thread, uint32_t bytes,
                                   bool kept)
{
    uint64_t offset = tfd_arena_allocate_leaving(spool, bytes, tfd_fold_reserve_bytes(spool));
    if (!offset)
        return NULL;
    if (!tfd_fold_keep_usable(spool)) {
        tfd_arena_give_back(spool, offset, bytes);
        return NULL;
    }
    struct tfd_chunk *chunk = tfd_at(spool, offset);
    chunk->capacity = (uint32_t)((bytes - sizeof *chunk) / sizeof(tfd_place));
    chunk->kept = kept;
    link_last(spool, thread, offset);
    return chunk;
}

bool tfd_recorder_prepare_spool(struct tfd_spool *spool)
{
    tfd_ended_chunks_forget();
    struct tfd_thread *thread = add_thread(spool, 0, "(other threads)");
    shared_chunk = thread ? add_chunk(spool, thread, FIRST_CHUNK_BYTES, false) : NULL;
    return shared_chunk && tfd_fold_prepare(spool);
}

void tfd_chunks_reset_in_child(void)
{
    shared_chunk = &no_chunk;
    tfd_ended_chunks_forget();
}

void tfd_chunks_begin(struct tfd_slot *slot, const char *name)
{
    struct tfd_spool *spool = &tfd_session.spool;
    int32_t tid = atomic_load(&slot->tid);
    /* of the slot's thread before, which has ended: a slot is set up once in a session for each thread */
    bool is_left = slot->thread && slot->session == tfd_session.generation;
    if (!is_left || !tfd_ended_thread_take_over(spool, slot->thread, tid, name)) {
        int cancel_state = tfd_tables_lock_take();
        slot->thread = add_thread(spool, tid, name);
        tfd_tables_lock_give(cancel_state);
    }
    slot->session = tfd_session.generation;
    slot->chunk = &no_chunk;
    slot->chunks_taken = 0;
    slot->oldest = NULL;
    slot->ring_bytes = 0;
}

/* What is not folded yet is to be no more than the trace still has room for, or at its limit threads would wait until
 * it is. So from there on, half of the limit where nothing was folded, the fold thread runs, and whoever takes a
 * chunk folds two chunks' worth until that thread has caught up. */
static void fold_ahead(struct tfd_spool *spool, const struct tfd_chunk *filled)
{
    if (tfd_trace_cap_claimed() - tfd_fold_kept_bytes(spool) <= tfd_trace_cap_left())
        return;
    tfd_fold_thread_runs();
    uint64_t before = tfd_fold_begin_helping(spool);
    tfd_drain_full(spool, 2 * filled->capacity / TFD_SHORT_PLACES);
    tfd_fold_end_helping(spool, before);
}

/* Of a chunk whose events are in the counters. */
static void empty(struct tfd_thread *thread, struct tfd_chunk *chunk)
{
    if (!thread->dropped_start || chunk == shared_chunk)
        tfd_thread_note_dropped(thread, tfd_chunk_first_start(chunk));
    thread->events_dropped += tfd_chunk_events(chunk);
    /* in this order: a process killed in between leaves nothing to fold twice */
    atomic_store(&chunk->fill, 0);
    atomic_store(&chunk->folded, 0);
}

/* The chunk's events are in the counters after this, and it is empty. Caller holds the fold lock. */
static bool recycle(struct tfd_spool *spool, struct tfd_thread *thread, struct tfd_chunk *chunk)
{
    while (atomic_load(&chunk->folded) < tfd_chunk_count(chunk))
        if (tfd_drain(spool, FOLD_BATCH_EVENTS) <= 0)
            return false;
    empty(thread, chunk);
    return true;
}

static uint32_t next_size(const struct tfd_slot *slot)
{
    return slot->chunks_taken < TFD_CHUNK_SIZES ? TFD_CHUNK_BYTES(slot->chunks_taken) : LARGEST_CHUNK_BYTES;
}

/* A chunk that is never used again, while the trace has room. */
static struct tfd_chunk *take_kept(struct tfd_spool *spool, struct tfd_slot *slot)
{
    uint32_t bytes = next_size(slot);
    /* what was refused once is not asked for again at every call */
    if (slot->oldest || atomic_load(&spool->header->spool_full))
        return NULL;
    if (slot->chunk != &no_chunk)
        fold_ahead(spool, slot->chunk);
    return tfd_trace_cap_claim(bytes) ? add_chunk(spool, slot->thread, bytes, true) : NULL;
}

/* The oldest of the chunks that are used again, once folding has left it. It becomes the last one: at each moment all
 * chunks that hold an event can be reached, in order of time. */
static struct tfd_chunk *take_released(struct tfd_spool *spool, struct tfd_slot *slot)
{
    uint64_t offset = slot->oldest ? *slot->oldest : 0;
    struct tfd_chunk *chunk = tfd_at(spool, offset);
    if (!offset || chunk == slot->chunk || !atomic_load_explicit(&chunk->released, memory_order_acquire))
        return NULL;
    empty(slot->thread, chunk);
    atomic_store(&chunk->released, 0);
    __atomic_store_n(slot->oldest, chunk->next, __ATOMIC_SEQ_CST);
    __atomic_store_n(&chunk->next, 0, __ATOMIC_SEQ_CST);
    link_last(spool, slot->thread, offset);
    return chunk;
}

static struct tfd_chunk *take_ended(const struct tfd_spool *spool, struct tfd_thread *thread, uint32_t bytes)
{
    uint64_t offset = tfd_ended_chunk_take(spool, bytes);
    if (!offset)
        return NULL;
    link_last(spool, thread, offset);
    return tfd_at(spool, offset);
}

/* One more chunk that is used again: all of a thread's take no more than its largest kept one. Without a fold thread
 * one is enough. */
static struct tfd_chunk *take_further(struct tfd_spool *spool, struct tfd_slot *slot)
{
    uint32_t bytes = next_size(slot) < RECYCLED_CHUNK_BYTES ? next_size(slot) : RECYCLED_CHUNK_BYTES;
    bool is_full = atomic_load(&spool->header->spool_full);
    if ((slot->oldest && (is_full || !tfd_fold_thread_runs())) ||
        slot->ring_bytes + bytes > LARGEST_CHUNK_BYTES)
        return NULL;
    uint64_t *link = last_link(spool, slot->thread);
    struct tfd_chunk *chunk = take_ended(spool, slot->thread, bytes);
    if (!chunk && !is_full)
        chunk = add_chunk(spool, slot->thread, bytes, false);
    if (!chunk)
        return NULL;
    slot->oldest = slot->oldest ? slot->oldest : link;
    slot->ring_bytes += bytes;
    return chunk;
}

/* Folds in the caller, until a chunk can be used again. */
static struct tfd_chunk *fold_own(struct tfd_spool *spool, struct tfd_slot *slot)
{
    struct tfd_chunk *oldest = tfd_at(spool, *slot->oldest);
    bool emptied = false;
    uint64_t before = tfd_fold_begin_helping(spool);
    if (oldest == slot->chunk)
        emptied = recycle(spool, slot->thread, oldest);
    else
        while (!atomic_load(&oldest->released) && tfd_drain_full(spool, FOLD_BATCH_EVENTS) > 0)
            ;
    tfd_fold_end_helping(spool, before);
    return emptied ? oldest : take_released(spool, slot);
}

/* A thread has kept chunks alone, and gets no other: its last one is used again. */
static void reuse_last(struct tfd_spool *spool, struct tfd_slot *slot)
{
    uint64_t *link = &slot->thread->first_chunk;
    while (*link != slot->thread->current_chunk)
        link = &((struct tfd_chunk *)tfd_at(spool, *link))->next;
    slot->oldest = link;
    slot->ring_bytes = tfd_chunk_bytes(slot->chunk);
    tfd_fold_lock_first();
    tfd_thinning_unkeep(spool, slot->thread, slot->chunk);
    pthread_mutex_unlock(&tfd_fold_lock);
}

static struct tfd_chunk *empty_chunk(struct tfd_spool *spool, struct tfd_slot *slot)
{
    struct tfd_chunk *chunk = take_released(spool, slot);
    if (chunk)
        return chunk;
    chunk = take_kept(spool, slot);
    if (!chunk)
        chunk = take_further(spool, slot);
    slot->chunks_taken += chunk != NULL;
    return chunk;
}

bool tfd_chunks_next(struct tfd_slot *slot)
{
    struct tfd_spool *spool = &tfd_session.spool;
    if (!slot->thread)
        return false;
    struct tfd_chunk *chunk = empty_chunk(spool, slot);
    if (!chunk && !slot->oldest && slot->chunk != &no_chunk)
        reuse_last(spool, slot);
    if (!chunk && slot->oldest)
        chunk = fold_own(spool, slot);
    if (chunk)
        slot->chunk = chunk;
    tfd_fold_thread_tell(); /* behind the chunk there is a full one now */
    return chunk;
}

void tfd_chunks_emit_shared(const struct tfd_event *event)
{
    struct tfd_spool *spool = &tfd_session.spool;
    struct tfd_thread *thread = tfd_thread_at(spool, 0);
    pthread_mutex_lock(&tfd_fold_lock);
    bool appended = tfd_chunk_append(shared_chunk, event) ||
                    (recycle(spool, thread, shared_chunk) && tfd_chunk_append(shared_chunk, event));
    if (!appended)
        tfd_add_other(thread, TFD_OTHER_BIT | TFD_OTHER_SKIPPED, event->operation, event->length);
    pthread_mutex_unlock(&tfd_fold_lock);
}
