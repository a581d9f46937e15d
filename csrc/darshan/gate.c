#define _GNU_SOURCE
#include "darshan/gate.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Tries before a thread sleeps. Darshan records a call in less than 1 us: a thread that holds the lock for longer does
 * not run. */
#define LOOKS_BEFORE_SLEEP 100

__thread struct tfd_gate_passage tfd_gate_passage __attribute__((tls_model("initial-exec")));
__thread uint32_t tfd_gate_passed_in __attribute__((tls_model("initial-exec")));
_Atomic uint32_t tfd_gate_generation;
_Atomic uint64_t tfd_gate_nested_calls;
void *tfd_darshan_wrapper[TFD_HOOK_COUNT];
_Atomic uint32_t tfd_gate_record_lock;

static inline void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Wait for the lock, first by trying again, since another thread holds it only shortly. Keeps errno. */
void tfd_gate_wait_for_record_lock(void)
{
    for (int looks = 0; looks < LOOKS_BEFORE_SLEEP; looks++) {
        uint32_t free = 0;
        if (!atomic_load_explicit(&tfd_gate_record_lock, memory_order_relaxed) &&
            atomic_compare_exchange_strong_explicit(&tfd_gate_record_lock, &free, TFD_GATE_LOCKED,
                                                    memory_order_acquire, memory_order_relaxed))
            return;
        relax();
    }
    int saved_errno = errno;
    while (atomic_exchange_explicit(&tfd_gate_record_lock, TFD_GATE_AWAITED, memory_order_acquire))
        syscall(SYS_futex, &tfd_gate_record_lock, FUTEX_WAIT_PRIVATE, TFD_GATE_AWAITED, NULL, NULL, 0);
    errno = saved_errno;
}

void tfd_gate_wake_waiter(void)
{
    int saved_errno = errno;
    syscall(SYS_futex, &tfd_gate_record_lock, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    errno = saved_errno;
}

void tfd_gate_open(uint32_t generation)
{
    atomic_store(&tfd_gate_nested_calls, 0);
    tfd_darshan_copied = UINT64_MAX;
    tfd_darshan_attached = 1;
    atomic_store(&tfd_gate_generation, generation);
}

void tfd_gate_detach(void)
{
    tfd_darshan_attached = 0;
}

void tfd_gate_close(void)
{
    atomic_store(&tfd_gate_generation, 0);
}

void tfd_gate_lock(void)
{
    gate_enter(TFD_HOOK_COUNT); /* a signal handler of this thread must not wait for the lock */
    gate_take_record_lock();
}

void tfd_gate_unlock(void)
{
    gate_free_record_lock();
    tfd_gate_passage = (struct tfd_gate_passage){0};
}

/* The passage stays: if a signal handler forked within a passage, the passage ends when the handler returns. */
void tfd_gate_reset_in_child(void)
{
    atomic_store(&tfd_gate_record_lock, TFD_GATE_FREE);
    tfd_darshan_recorded = 0;
    tfd_gate_close();
    tfd_gate_detach();
}
