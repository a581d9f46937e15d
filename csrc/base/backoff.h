/* How long a thread of the host waits for another thread that attaches, joins or loads the core: as long as that
 * thread gets on, and for 1 s at most since it began.
 *
 * A thread gets on if it has used processor time since the last check, or if it waits for a processor or a disk. A
 * thread that sleeps may wait for a lock that the waiting thread holds, such as the loader's lock inside a dlopen.
 * After 50 ms of sleep nobody waits for it. */
#ifndef TFD_BACKOFF_H
#define TFD_BACKOFF_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The thread that others wait for; zeros mean none. */
struct tfd_attaching {
    _Atomic int32_t tid;
    _Atomic int64_t begun_ns;
    _Atomic int64_t moved_ns; /* when a waiting thread last saw it get on */
    _Atomic int64_t cpu_ns;   /* processor time that it had used by then */
};

/* Call these in the thread that others wait for, around the work that they wait for. */
void tfd_attaching_begin(struct tfd_attaching *self);
void tfd_attaching_end(struct tfd_attaching *self);

/* Return the time at which a wait begins, by CLOCK_MONOTONIC. */
int64_t tfd_backoff_begins(void);
/* Return true if a thread that has waited since then goes on waiting. Call this every few milliseconds. False if the
 * thread would wait for itself. */
bool tfd_backoff_lasts(struct tfd_attaching *other, int64_t waits_since_ns);

#endif
