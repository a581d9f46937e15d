#define _GNU_SOURCE
#include "recorder/ended_threads.h"

#include <string.h>

#include "counters/fold.h"
#include "counters/fold_state.h"
#include "recorder/fold_thread.h"
#include "recorder/other_traffic.h"
#include "recorder/session.h"

#define EVENTS_AT_ONCE 4096u

/* Of each size the first empty chunk, linked by `next`. A killed process leaves them where no record leads to them. */
static uint64_t empty_chunks[TFD_CHUNK_SIZES];

void tfd_ended_chunks_forget(void)
{
    memset(empty_chunks, 0, sizeof empty_chunks);
}

static uint64_t *list_of(uint32_t bytes)
{
    for (uint32_t size = 0; size < TFD_CHUNK_SIZES; size++)
        if (TFD_CHUNK_BYTES(size) == bytes)
            return &empty_chunks[size];
    return NULL;
}

uint64_t tfd_ended_chunk_take(const struct tfd_spool *spool, uint32_t bytes)
{
    uint64_t *list = list_of(bytes);
    int cancel_state = tfd_tables_lock_take();
    uint64_t offset = list ? *list : 0;
    if (offset) {
        struct tfd_chunk *chunk = tfd_at(spool, offset);
        *list = chunk->next;
        chunk->next = 0;
    }
    tfd_tables_lock_give(cancel_state);
    return offset;
}

/* No record leads to these chunks any more. */
static void give_chunks(const struct tfd_spool *spool, uint64_t first)
{
    int cancel_state = tfd_tables_lock_take();
    for (uint64_t offset = first; offset;) {
        struct tfd_chunk *chunk = tfd_at(spool, offset);
        uint64_t next = chunk->next, *list = list_of(tfd_chunk_bytes(chunk));
        atomic_store(&chunk->fill, 0);
        atomic_store(&chunk->folded, 0);
        atomic_store(&chunk->released, 0);
        if (list) {
            chunk->next = *list;
            *list = offset;
        }
        offset = next;
    }
    tfd_tables_lock_give(cancel_state);
}

static bool is_in_trace(const struct tfd_spool *spool, const struct tfd_thread *thread)
{
    for (uint64_t offset = thread->first_chunk; offset;) {
        const struct tfd_chunk *chunk = tfd_at(spool, offset);
        if (chunk->kept)
            return true;
        offset = chunk->next;
    }
    return false;
}

static bool is_folded(const struct tfd_spool *spool, const struct tfd_thread *thread)
{
    for (uint64_t offset = thread->first_chunk; offset;) {
        const struct tfd_chunk *chunk = tfd_at(spool, offset);
        if (atomic_load(&chunk->folded) < tfd_chunk_count(chunk))
            return false;
        offset = chunk->next;
    }
    return true;
}

/* Caller holds the fold lock. */
static bool fold_all(struct tfd_spool *spool, struct tfd_thread *thread)
{
    atomic_store(&thread->ended, 1);
    while (!is_folded(spool, thread))
        if (tfd_drain_full(spool, EVENTS_AT_ONCE) <= 0)
            return false;
    return true;
}

static void add_up(const struct tfd_spool *spool, struct tfd_thread *others, const struct tfd_thread *ended)
{
    for (uint64_t offset = ended->first_chunk; offset;) {
        const struct tfd_chunk *chunk = tfd_at(spool, offset);
        others->events_dropped += tfd_chunk_events(chunk);
        if (!ended->dropped_start)
            tfd_thread_note_dropped(others, tfd_chunk_first_start(chunk));
        offset = chunk->next;
    }
    others->events_dropped += ended->events_dropped;
    tfd_thread_note_dropped(others, ended->dropped_start);
    for (int kind = 0; kind < TFD_OTHER_KIND_COUNT; kind++)
        tfd_add_traffic(&others->other[kind], &ended->other[kind]);
}

/* As a whole, also if the process is killed on the way: the fold's journal puts back both records. Nothing that was
 * folded is in it here. Caller holds the fold lock, as whoever else writes to record 0. */
static void hand_on(struct tfd_spool *spool, struct tfd_thread *thread, int32_t tid, const char *name)
{
    struct fold_journal *journal = &tfd_fold_root(spool)->journal;
    struct tfd_thread *others = tfd_thread_at(spool, 0);
    tfd_journal_save(spool, journal, others, sizeof *others);
    tfd_journal_save(spool, journal, thread, sizeof *thread);
    add_up(spool, others, thread);
    memset(thread, 0, sizeof *thread);
    thread->tid = tid;
    strncpy(thread->name, name, sizeof thread->name - 1);
    tfd_journal_end(journal);
}

bool tfd_ended_thread_take_over(struct tfd_spool *spool, struct tfd_thread *thread, int32_t tid,
                                const char *name)
{
    /* what is said to be stopped is read */
    if (is_in_trace(spool, thread) || atomic_load(&spool->header->state) == TFD_SPOOL_STOPPED)
        return false;
    uint64_t before = tfd_fold_begin_helping(spool), first = thread->first_chunk;
    bool folded = fold_all(spool, thread);
    if (folded)
        hand_on(spool, thread, tid, name);
    tfd_fold_end_helping(spool, before);
    if (folded)
        give_chunks(spool, first);
    return folded;
}
