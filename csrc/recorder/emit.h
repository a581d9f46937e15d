/* One event per call into the calling thread's own chunk: the hot path, with transfer.h.
 *
 * No lock, no allocation and no system call while the slot is set up and the
 * chunk has room; everything else is in emit.c and keeps errno.
 *
 * A thread marks itself busy while it writes. That lets stop() wait until
 * nobody writes before it unmaps the spool, and a signal handler that
 * interrupts the writing sees it and stays away. */
#ifndef TFD_EMIT_H
#define TFD_EMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "recorder/other_traffic.h"
#include "recorder/session.h"
#include "recorder/slots.h"

struct tfd_slot *tfd_set_up(struct tfd_slot *slot);
/* Append to another chunk, or to the shared one, if the current chunk is full.
 * The event is passed by value, so that the caller's can stay in registers. */
void tfd_emit_slowly(struct tfd_slot *slot, struct tfd_event event);

/* For functions on the path of every hot call: each wrapper gets a copy. */
#define TFD_HOT __attribute__((always_inline))
#define TFD_LIKELY(condition) __builtin_expect(!!(condition), 1)

/* Return the slot, which is busy until tfd_leave(); NULL if nothing is recorded.
 * The byte counts are noted if this call has interrupted the recorder itself. */
static inline struct tfd_slot *tfd_enter(int64_t bytes_read, int64_t bytes_written)
{
    struct tfd_slot *slot = tfd_own_slot;
    if (!TFD_LIKELY(slot) && !(slot = tfd_find_slot()))
        return NULL;
    if (!TFD_LIKELY(!atomic_load_explicit(&slot->busy, memory_order_relaxed))) {
        tfd_count_nested(slot, bytes_read, bytes_written);
        return NULL;
    }
    atomic_store_explicit(&slot->busy, 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst); /* stop() supplies the other half, see quiesce() */
    if (!TFD_LIKELY(atomic_load_explicit(&slot->generation, memory_order_relaxed) ==
                    atomic_load_explicit(&tfd_shared->generation, memory_order_relaxed)))
        return tfd_set_up(slot);
    return slot;
}

static inline void tfd_leave(struct tfd_slot *slot)
{
    atomic_store_explicit(&slot->owed, 0, memory_order_release);
    atomic_store_explicit(&slot->busy, 0, memory_order_release);
}

static inline TFD_HOT void tfd_emit(struct tfd_slot *slot, const struct tfd_event *event)
{
    if (!TFD_LIKELY(tfd_chunk_append(slot->chunk, event)))
        tfd_emit_slowly(slot, *event);
}

/* A call on a recorded file becomes an event, any other call is added to a sum. */
static inline void tfd_emit_or_count(struct tfd_slot *slot, tfd_target target, struct tfd_event *event)
{
    if (target & TFD_OTHER_BIT) {
        tfd_count_other(slot, target, event->operation, event->length);
        return;
    }
    event->file = target;
    tfd_emit(slot, event);
}

#endif
