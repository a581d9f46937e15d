/* Samples of the threads that are blocked in a page fault, for systems where faults cannot be events. They give a lower
 * bound of the waits, without addresses.
 *
 * Descriptors stay open in the calling thread's own table. One caller at a time. */
#ifndef TFD_BLOCKED_THREADS_H
#define TFD_BLOCKED_THREADS_H

#include <stdbool.h>
#include <stdint.h>

struct tfd_blocked {
    int64_t wait_ns; /* time of threads in page faults, added up */
    int64_t busy_ns; /* time with at least one thread in a page fault */
    int64_t cost_ns; /* processor time of the samples */
    int64_t faults;  /* the process's faults when threads were last chosen */
    uint64_t looks;
};

/* Return false if the kernel does not show what a thread is blocked in. */
bool tfd_blocked_threads_begin(void);
/* Sample the threads, and add to `*blocked`; return the time until the next sample, so that samples take 1 % of the
 * time of the threads that have faults. `faults`: the process's so far, by getrusage(2). */
int64_t tfd_blocked_threads_look(struct tfd_blocked *blocked, int64_t faults);
void tfd_blocked_threads_end(void);
/* Forget the parent's descriptors, which a child does not have. */
void tfd_blocked_threads_reset_in_child(void);

#endif
