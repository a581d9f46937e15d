/* Where a thread's events go: its record in the spool, and the chunks it fills, folds and uses again. */
#define _GNU_SOURCE
#include "recorder/thread_chunks.h"

#include <string.h>

#include "counters/fold.h"
#include "recorder/other_traffic.h"
#include "recorder/path_table.h"
#include "recorder/session.h"
#include "recorder/slots.h"
#include "spool/session_room.h"
#include "spool/spool_file.h"

#define FIRST_CHUNK_BYTES (4u << 10)
#define LARGEST_CHUNK_BYTES (256u << 10)
#define RECYCLED_CHUNK_BYTES (64u << 10)
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
    uint64_t *link = thread->current_chunk ? &((struct tfd_chunk *)tfd_at(spool, thread->current_chunk))->next
                                           : &thread->first_chunk;
    __atomic_store_n(link, offset, __ATOMIC_RELEASE); /* who folds takes what it finds there for complete */
    thread->current_chunk = offset;
    return chunk;
}

bool tfd_recorder_prepare_spool(struct tfd_spool *spool)
{
    struct tfd_thread *thread = add_thread(spool, 0, "(other threads)");
    shared_chunk = thread ? add_chunk(spool, thread, FIRST_CHUNK_BYTES, false) : NULL;
    return shared_chunk && tfd_fold_prepare(spool);
}

void tfd_chunks_reset_in_child(void)
{
    shared_chunk = &no_chunk;
}

void tfd_chunks_begin(struct tfd_slot *slot, const char *name)
{
    pthread_mutex_lock(&tfd_tables_lock);
    slot->thread = add_thread(&tfd_session.spool, atomic_load(&slot->tid), name);
    pthread_mutex_unlock(&tfd_tables_lock);
    slot->chunk = &no_chunk;
    slot->chunks_taken = 0;
}

/* From half of the trace limit on, whoever takes a chunk folds two chunks'
 * worth: at the limit nothing is left to fold, and no thread ever waits for
 * millions of events at once. */
static void fold_ahead(struct tfd_spool *spool, uint32_t chunk_places)
{
    struct tfd_spool_header *header = spool->header;
    if (2 * tfd_session_trace_bytes() < header->trace_limit_bytes)
        return;
    if (pthread_mutex_trylock(&tfd_fold_lock))
        return;
    tfd_drain(spool, 2 * chunk_places / TFD_SHORT_PLACES);
    pthread_mutex_unlock(&tfd_fold_lock);
}

static void note_dropped(struct tfd_thread *thread, uint64_t start)
{
    if (start && (!thread->dropped_start || start < thread->dropped_start))
        thread->dropped_start = start;
}

/* The chunk's events are in the counters after this, and it is empty. Caller holds the fold lock. */
static bool recycle(struct tfd_spool *spool, struct tfd_thread *thread, struct tfd_chunk *chunk)
{
    while (atomic_load(&chunk->folded) < tfd_chunk_count(chunk))
        if (tfd_drain(spool, FOLD_BATCH_EVENTS) <= 0)
            return false;
    if (!thread->dropped_start || chunk == shared_chunk)
        note_dropped(thread, tfd_chunk_first_start(chunk));
    thread->events_dropped += tfd_chunk_events(chunk);
    /* in this order: a process killed in between leaves nothing to fold twice */
    atomic_store(&chunk->fill, 0);
    atomic_store(&chunk->folded, 0);
    return true;
}

static struct tfd_chunk *add_own_chunk(struct tfd_spool *spool, struct tfd_slot *slot)
{
    uint32_t bytes = FIRST_CHUNK_BYTES << (2 * (slot->chunks_taken < 3 ? slot->chunks_taken : 3));
    bytes = bytes < LARGEST_CHUNK_BYTES ? bytes : LARGEST_CHUNK_BYTES;
    slot->chunks_taken++;
    if (tfd_session_trace_claim(bytes)) {
        struct tfd_chunk *chunk = add_chunk(spool, slot->thread, bytes, true);
        if (chunk)
            return chunk;
    }
    return add_chunk(spool, slot->thread, bytes < RECYCLED_CHUNK_BYTES ? bytes : RECYCLED_CHUNK_BYTES, false);
}

static bool empty_own_chunk(struct tfd_spool *spool, struct tfd_slot *slot)
{
    pthread_mutex_lock(&tfd_fold_lock);
    bool emptied = recycle(spool, slot->thread, slot->chunk);
    pthread_mutex_unlock(&tfd_fold_lock);
    return emptied;
}

bool tfd_chunks_next(struct tfd_slot *slot)
{
    struct tfd_spool *spool = &tfd_session.spool;
    if (!slot->thread)
        return false;
    if (!slot->chunk->kept)
        return empty_own_chunk(spool, slot);
    fold_ahead(spool, slot->chunk->capacity);
    /* what was refused once is not asked for again at every call */
    struct tfd_chunk *chunk = atomic_load(&spool->header->spool_full) ? NULL : add_own_chunk(spool, slot);
    if (chunk) {
        slot->chunk = chunk;
        return true;
    }
    if (slot->chunk == &no_chunk)
        return false;
    slot->chunk->kept = 0;
    return empty_own_chunk(spool, slot);
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
