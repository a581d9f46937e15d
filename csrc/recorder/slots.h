/* What each thread has of the recorder: its slot. */
#ifndef TFD_SLOTS_H
#define TFD_SLOTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "spool/spool.h"

struct tfd_slot {                /* of one thread, in this process's memory; never unmapped */
    _Atomic uint32_t generation; /* session it is set up for */
    _Atomic uint32_t busy;
    _Atomic uint32_t owed; /* Darshan has recorded a call of which there is no event yet */
    struct tfd_chunk *chunk;
    struct tfd_thread *thread;
    _Atomic int32_t tid;
    uint32_t chunks_taken;
    uint64_t *oldest; /* in the spool, the link to the first of the chunks that are used again; NULL: none */
    uint32_t ring_bytes;            /* of these chunks */
    uint32_t session;               /* generation of the session that `thread` is a record of */
    struct tfd_other_traffic early; /* nested calls while the slot was being set up */
} __attribute__((aligned(64)));

extern __thread struct tfd_slot *tfd_own_slot __attribute__((tls_model("initial-exec")));

struct tfd_slot *tfd_find_slot(void);

static inline bool tfd_is_owed(void)
{
    return tfd_own_slot && atomic_load_explicit(&tfd_own_slot->owed, memory_order_relaxed);
}

/* For the calling thread's slot, which it may have to find first. Before Darshan records, under a lock that the
 * stopping thread takes too. */
static inline void tfd_set_owed(bool owed)
{
    struct tfd_slot *slot = tfd_own_slot ? tfd_own_slot : tfd_find_slot();
    if (slot)
        atomic_store_explicit(&slot->owed, owed, memory_order_relaxed);
}

bool tfd_slots_initialize(void);
/* True in a signal handler that came while its thread was recording. */
bool tfd_is_interrupted(void);
/* Waits until no thread is writing events. False after a second: somebody still was. */
bool tfd_quiesce(void);
/* The same for threads that are seen to write: one that begins just now may not be. */
bool tfd_await_recorders(void);
/* Waits until every call that Darshan has recorded is an event too; a second at most. */
void tfd_await_owed_events(void);
void tfd_slots_reset_in_child(void);
/* In tfd_before_vfork: this thread's memory is lent to a child until it execs. */
void tfd_lend_to_vfork_child(void);
/* Process that lent this thread's memory to a child of vfork, or 0. */
extern __thread int32_t tfd_lender_pid __attribute__((tls_model("initial-exec")));
bool tfd_memory_is_ours(void);

/* In a child of vfork: nothing here may be changed. */
static inline bool tfd_memory_is_lent(void)
{
    return tfd_lender_pid && !tfd_memory_is_ours();
}

/* Not getpid(): old C libraries remember it, also across a vfork. */
int32_t tfd_own_pid(void);

#endif
