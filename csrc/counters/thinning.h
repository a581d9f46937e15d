/* Keeps thinned calls while a process records: see spool/thinned.h.
 *
 * A call comes here when it is folded from a chunk that is used again, with the fold's journal: it is counted and kept,
 * or neither. If the blocks are full, the resolution is raised, and block after block is thinned when its room is
 * needed: what stays is copied to a spare block, and one store puts that in its place. */
#ifndef TFD_THINNING_H
#define TFD_THINNING_H

#include "counters/fold_state.h"
#include "spool/thinned.h"

/* Makes the list, without blocks; nothing where no trace is kept. False: no room. */
bool tfd_thinning_prepare(struct tfd_spool *spool);
/* Returns the block that the call is to be added to, with room for it; NULL if it is not kept. Commits the fold if
 * calls have to make room. Marks the call if it is kept as its file's first open. */
struct tfd_thinned_block *tfd_thinning_plan(struct tfd_spool *spool, struct fold_root *root,
                                            struct tfd_event *event, uint32_t thread);

/* Makes of a kept chunk, its thread's last one, one that is used again: what is folded of it is thinned, and added up
 * over time, too. One store commits both: until then a reader finds the calls in the chunk, and leaves them out where
 * they are thinned already (reader/thinned_list.c). Caller holds the fold lock. */
void tfd_thinning_unkeep(struct tfd_spool *spool, const struct tfd_thread *thread, struct tfd_chunk *chunk);

static inline void tfd_thinning_apply(const struct tfd_spool *spool, struct tfd_thinned_block *block,
                                      const struct tfd_event *event, uint32_t thread)
{
    uint32_t count = atomic_load_explicit(&block->count, memory_order_relaxed);
    int32_t tid = tfd_thread_at(spool, thread)->tid;
    block->calls[count] = (struct tfd_thinned_call){.event = *event, .thread = thread, .tid = tid};
    block->first_opens += !!(event->flags & TFD_FLAG_FIRST_OPEN);
    atomic_store_explicit(&block->count, count + 1, memory_order_release);
}

#endif
