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
/* The current chunk is full: appends to another, or to the shared one. By
 * value, as in tfd_record_slowly: the caller's event can stay in registers. */
void tfd_emit_slowly(struct tfd_slot *slot, struct tfd_event event);

/* For what every call of a hot symbol passes: a copy in each of its wrappers. */
#define TFD_HOT __attribute__((always_inline))
#define TFD_LIKELY(condition) __builtin_expect(!!(condition), 1)

/* NULL: not recording. Else the slot, busy until tfd_leave. The byte counts
 * are what would be lost if this call interrupted the recorder itself. */
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

/* A call on a file becomes an event; on anything else, or a file that is left out, a sum. */
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
