#define _GNU_SOURCE
#include "base/attach_lock.h"

#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

#define LOCK_PATIENCE_NS 50000000
#define FORK_PATIENCE_NS 1000000000
#define MAKE_WAY_NS 1000000

/* Error checking: a signal handler that forks while its thread attaches must not wait for itself. */
pthread_mutex_t tfd_attach_lock = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;

static __thread bool locked_for_fork;
static __thread unsigned fork_depth; /* more than 1: a signal handler forks while its thread forks */
static _Atomic uint32_t forks_waiting;

/* By a clock that nobody sets, where the C library has such a wait. ThreadSanitizer does not know that wait, and
 * takes what happens under the lock for a race. */
#if __GLIBC_PREREQ(2, 30) && !defined(__SANITIZE_THREAD__)
#define CLOCK_OF_WAITS CLOCK_MONOTONIC
static int wait_for_lock(const struct timespec *until)
{
    return pthread_mutex_clocklock(&tfd_attach_lock, CLOCK_OF_WAITS, until);
}
#else
#define CLOCK_OF_WAITS CLOCK_REALTIME
static int wait_for_lock(const struct timespec *until)
{
    return pthread_mutex_timedlock(&tfd_attach_lock, until);
}
#endif

static bool lock_within(int64_t patience_ns)
{
    struct timespec until;
    if (!pthread_mutex_trylock(&tfd_attach_lock))
        return true;
    clock_gettime(CLOCK_OF_WAITS, &until);
    until.tv_nsec += patience_ns;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    return !wait_for_lock(&until);
}

static void make_way_for_forks(void)
{
    for (int64_t slept_ns = 0; atomic_load(&forks_waiting) && slept_ns < LOCK_PATIENCE_NS;
         slept_ns += MAKE_WAY_NS)
        nanosleep(&(struct timespec){0, MAKE_WAY_NS}, NULL);
}

bool tfd_attach_lock_with_patience(void)
{
    make_way_for_forks();
    return lock_within(LOCK_PATIENCE_NS);
}

/* On a busy machine a thread that holds the lock may not run for a while, and
 * others would take it before this one runs again: so they make way. */
bool tfd_attach_lock_before_fork(void)
{
    if (fork_depth++)
        return false;
    atomic_fetch_add(&forks_waiting, 1);
    locked_for_fork = lock_within(FORK_PATIENCE_NS);
    atomic_fetch_sub(&forks_waiting, 1);
    return locked_for_fork;
}

void tfd_attach_lock_after_fork(void)
{
    if (!--fork_depth && locked_for_fork)
        pthread_mutex_unlock(&tfd_attach_lock);
}

void tfd_attach_lock_reset_in_child(void)
{
    tfd_attach_lock = (pthread_mutex_t)PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    atomic_store(&forks_waiting, 0);
    locked_for_fork = false;
    fork_depth--;
}
