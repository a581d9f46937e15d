/* The gate to libdarshan: which calls may enter, and the state of the call that a thread has inside. */
#ifndef TFD_DARSHAN_GATE_H
#define TFD_DARSHAN_GATE_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "hooks/function_types.h"
#include "recorder/darshan_passage.h"
#include "recorder/emit.h"

/* A call inside libdarshan, one per thread. A call that comes meanwhile is a
 * signal handler's and goes straight to the C library: inside Darshan it would
 * wait for ever for a lock that its own thread holds. */
struct tfd_gate_passage {
    unsigned hook; /* hook + 1; 0: no call inside */
    bool locked;   /* the real call is over, Darshan may be recording */
    bool dropping; /* the real close or fclose comes later */
    int real_errno;
    int *thread_errno;
};

extern __thread struct tfd_gate_passage tfd_gate_passage __attribute__((tls_model("initial-exec")));
/* Generation in which this thread last passed; Darshan's entries from then belong to that session. */
extern __thread uint32_t tfd_gate_passed_in __attribute__((tls_model("initial-exec")));
extern _Atomic uint32_t tfd_gate_generation; /* generation whose calls pass; 0: none */
/* Calls made by signal handlers while their thread was inside libdarshan. */
extern _Atomic uint64_t tfd_gate_nested_calls;
extern void *tfd_darshan_wrapper[TFD_HOOK_COUNT];
#define TFD_DARSHAN_WRAPPER(symbol) ((tfd_##symbol##_function *)tfd_darshan_wrapper[TFD_HOOK_##symbol])

/* A lock from the end of the real call until Darshan has recorded it. Darshan
 * has one lock per module anyway. With ours around it, the order in which it
 * counts is known, and records can be copied whole. Every call takes this lock,
 * so it is inline: a futex like the C library's mutexes. */
extern _Atomic uint32_t tfd_gate_record_lock;
enum { TFD_GATE_FREE, TFD_GATE_LOCKED, TFD_GATE_AWAITED };

void tfd_gate_wait_for_record_lock(void);
void tfd_gate_wake_waiter(void);

static inline void gate_take_record_lock(void)
{
    uint32_t free = TFD_GATE_FREE;
    if (!TFD_LIKELY(atomic_compare_exchange_strong_explicit(&tfd_gate_record_lock, &free, TFD_GATE_LOCKED,
                                                            memory_order_acquire, memory_order_relaxed)))
        tfd_gate_wait_for_record_lock();
}

static inline void gate_free_record_lock(void)
{
    if (!TFD_LIKELY(atomic_exchange_explicit(&tfd_gate_record_lock, TFD_GATE_FREE, memory_order_release) ==
                    TFD_GATE_LOCKED))
        tfd_gate_wake_waiter();
}

static inline uint32_t gate_generation(void)
{
    return atomic_load_explicit(&tfd_gate_generation, memory_order_relaxed);
}

static inline bool gate_admits(unsigned hook)
{
    uint32_t generation = gate_generation();
    if (tfd_gate_passage.hook) {
        atomic_fetch_add_explicit(&tfd_gate_nested_calls, 1, memory_order_relaxed);
        return false;
    }
    if (!generation || generation != atomic_load_explicit(&tfd_shared->generation, memory_order_relaxed) ||
        tfd_memory_is_lent())
        return false;
    tfd_gate_passed_in = generation;
    return tfd_darshan_wrapper[hook];
}

static inline void gate_enter(unsigned hook)
{
    tfd_gate_passage = (struct tfd_gate_passage){.hook = hook + 1};
    atomic_signal_fence(memory_order_seq_cst);
}

static inline bool gate_is_passed_by(unsigned hook)
{
    return tfd_gate_passage.hook == hook + 1;
}

/* Call this in the function that Darshan calls as the real one. Darshan may call
 * others meanwhile (fileno in fclose), under its own locks, which do not count. */
static inline void gate_real_call_is_over(unsigned hook)
{
    if (!gate_is_passed_by(hook) || tfd_gate_passage.locked)
        return;
    tfd_gate_passage.thread_errno = &errno;
    tfd_gate_passage.real_errno = *tfd_gate_passage.thread_errno;
    tfd_set_owed(true);
    gate_take_record_lock();
    tfd_gate_passage.locked = true;
}

static inline void gate_leave(void)
{
    tfd_darshan_recorded = tfd_ticks();
    if (TFD_LIKELY(tfd_gate_passage.locked)) {
        gate_free_record_lock();
        *tfd_gate_passage.thread_errno = tfd_gate_passage.real_errno;
    }
    tfd_gate_passage.dropping = false;
    atomic_signal_fence(memory_order_seq_cst);
    tfd_gate_passage.hook = 0;
}

/* Let the calls of a generation pass, until the gate is closed. */
void tfd_gate_open(uint32_t generation);
void tfd_gate_close(void);
/* The session is over, and no call is expected to pass. */
void tfd_gate_detach(void);
/* While this lock is held, no thread is between Darshan's first and last change of a record. */
void tfd_gate_lock(void);
void tfd_gate_unlock(void);
void tfd_gate_reset_in_child(void);

#endif
