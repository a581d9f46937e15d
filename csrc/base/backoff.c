#define _GNU_SOURCE
#include "base/backoff.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/process_identity.h"

#define ASLEEP_NS 50000000
#define IN_ALL_NS 1000000000
#define NOT_SEEN (-1)

static int64_t nanoseconds_of(clockid_t clock)
{
    struct timespec time;
    return clock_gettime(clock, &time) ? NOT_SEEN : time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

/* The same as pthread_getcpuclockid(3), which needs a thread that still runs. The clock of an ended thread cannot be
 * read. */
static clockid_t processor_clock(int32_t tid)
{
    enum { OF_A_THREAD = 4, SCHEDULED = 2 };
    return (clockid_t)(~(uint32_t)tid << 3 | OF_A_THREAD | SCHEDULED);
}

static int32_t own_tid(void)
{
    return (int32_t)syscall(SYS_gettid);
}

void tfd_attaching_begin(struct tfd_attaching *self)
{
    int64_t now_ns = nanoseconds_of(CLOCK_MONOTONIC);
    atomic_store(&self->begun_ns, now_ns);
    atomic_store(&self->moved_ns, now_ns);
    atomic_store(&self->cpu_ns, NOT_SEEN);
    atomic_store(&self->tid, own_tid());
}

void tfd_attaching_end(struct tfd_attaching *self)
{
    atomic_store(&self->tid, 0);
}

int64_t tfd_backoff_begins(void)
{
    return nanoseconds_of(CLOCK_MONOTONIC);
}

static bool gets_on(struct tfd_attaching *other, int32_t tid)
{
    int64_t cpu_ns = nanoseconds_of(processor_clock(tid));
    return atomic_exchange(&other->cpu_ns, cpu_ns) != cpu_ns || tfd_thread_is_awake(tid);
}

/* Nobody attaches for a moment after one thread has ended and before the next one begins. */
bool tfd_backoff_lasts(struct tfd_attaching *other, int64_t waits_since_ns)
{
    int32_t tid = atomic_load(&other->tid);
    int64_t now_ns = nanoseconds_of(CLOCK_MONOTONIC);
    if (tid == own_tid() || now_ns - waits_since_ns >= IN_ALL_NS)
        return false;
    if (!tid)
        return true;
    if (now_ns - atomic_load(&other->begun_ns) >= IN_ALL_NS)
        return false;
    if (gets_on(other, tid))
        atomic_store(&other->moved_ns, now_ns);
    return now_ns - atomic_load(&other->moved_ns) < ASLEEP_NS;
}
