#define _GNU_SOURCE
#include "darshan_gate.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Darshan records a call in less than a microsecond: whoever holds the lock for longer is not running. */
#define LOOKS_BEFORE_SLEEP 100
#define SLEEP_NS 20000

__thread uint64_t tfd_darshan_recorded __attribute__((tls_model("initial-exec")));
uint32_t tfd_darshan_attached;
uint64_t tfd_darshan_copied = UINT64_MAX;

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

/* A sleep, as one that only gave way to others would keep a holder of lower priority from running; the raw call,
 * as the C library's is a point at which a thread can be cancelled. Keeps errno. */
void tfd_gate_wait_for_record_lock(void)
{
    int saved_errno = errno;
    do {
        for (int looks = 0; atomic_load_explicit(&tfd_gate_record_lock, memory_order_relaxed); looks++)
            if (looks < LOOKS_BEFORE_SLEEP)
                relax();
            else
                syscall(SYS_nanosleep, &(struct timespec){0, SLEEP_NS}, NULL);
    } while (atomic_exchange_explicit(&tfd_gate_record_lock, 1, memory_order_acquire));
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
    gate_enter(TFD_HOOK_COUNT); /* a signal handler of this thread must not wait for it */
    gate_take_record_lock();
}

void tfd_gate_unlock(void)
{
    gate_free_record_lock();
    tfd_gate_passage = (struct tfd_gate_passage){0};
}

void tfd_gate_reset_in_child(void)
{
    gate_free_record_lock();
    tfd_gate_passage = (struct tfd_gate_passage){0};
    tfd_darshan_recorded = 0;
    tfd_gate_close();
    tfd_gate_detach();
}
