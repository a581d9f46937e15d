/* How long a thread of the host waits for another that attaches, joins or loads the core: as long as that one gets on,
 * and for a second since it began at most.
 *
 * It gets on where it has used processor time since somebody looked, and where the kernel does not say that it sleeps:
 * on a busy machine it waits for a processor, or for a disk. One that sleeps may do so for a lock that the waiting
 * thread holds, as the loader's inside a dlopen: after 50 ms of that, nobody waits for it. */
#ifndef TFD_BACKOFF_H
#define TFD_BACKOFF_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Who is waited for; zeros are nobody. */
struct tfd_attaching {
    _Atomic int32_t tid;
    _Atomic int64_t begun_ns;
    _Atomic int64_t moved_ns; /* when somebody last saw it get on */
    _Atomic int64_t cpu_ns;   /* that it had used then */
};

/* By the thread that others will wait for, around what they wait for. */
void tfd_attaching_begin(struct tfd_attaching *self);
void tfd_attaching_end(struct tfd_attaching *self);

/* When a thread begins to wait, by CLOCK_MONOTONIC. */
int64_t tfd_backoff_begins(void);
/* Whether a thread that waits since then goes on; to be asked every few milliseconds. Never for itself. */
bool tfd_backoff_lasts(struct tfd_attaching *other, int64_t waits_since_ns);

#endif
