/* Where page faults are no events: which threads are blocked in one, looked at from time to time. What they wait is
 * at least what was seen so, and of no known address.
 *
 * For the calling thread's own table of descriptors, in which some stay open. One caller at a time. */
#ifndef TFD_BLOCKED_THREADS_H
#define TFD_BLOCKED_THREADS_H

#include <stdbool.h>
#include <stdint.h>

struct tfd_blocked {
    int64_t wait_ns; /* of threads in a page fault, added up */
    int64_t busy_ns; /* in which at least one was */
    int64_t cost_ns; /* processor time of the looks */
    int64_t faults;  /* of the process, when threads were chosen last */
    uint64_t looks;
};

/* False where the kernel does not show what a thread is blocked in. */
bool tfd_blocked_threads_begin(void);
/* Looks, and adds what it sees to `*blocked`. `faults` are the process's so far, by getrusage. Returns how long it is
 * until the next look, so that looks take 1 % of the time of the threads that have faults. */
int64_t tfd_blocked_threads_look(struct tfd_blocked *blocked, int64_t faults);
void tfd_blocked_threads_end(void);
/* The parent's descriptors are not those of a child. */
void tfd_blocked_threads_reset_in_child(void);

#endif
