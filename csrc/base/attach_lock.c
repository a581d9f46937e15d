#define _GNU_SOURCE
#include "base/attach_lock.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

#include "base/backoff.h"

#define LOOK_EVERY_NS 5000000
#define FORKS_FIRST_NS 50000000
#define FORK_WAIT_NS 1000000000 /* longest wait for the lock before a fork */
#define MAKE_WAY_NS 1000000

/* Error checking: a signal handler that forks while its thread attaches must not wait for itself. */
static pthread_mutex_t lock = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static struct tfd_attaching holder;

static __thread bool locked_for_fork;
static __thread unsigned fork_depth; /* more than 1: a signal handler forks while its thread forks */
static _Atomic uint32_t forks_waiting;

/* glibc 2.30 can wait by a clock that nobody sets. ThreadSanitizer does not know that wait, and reports races under the
 * lock. */
#if __GLIBC_PREREQ(2, 30) && !defined(__SANITIZE_THREAD__)
#define CLOCK_OF_WAITS CLOCK_MONOTONIC
static int wait_for_lock(const struct timespec *until)
{
    return pthread_mutex_clocklock(&lock, CLOCK_OF_WAITS, until);
}
#else
#define CLOCK_OF_WAITS CLOCK_REALTIME
static int wait_for_lock(const struct timespec *until)
{
    return pthread_mutex_timedlock(&lock, until);
}
#endif

/* Return 0 once the lock is held, else an error of pthread_mutex_lock(3). */
static int lock_within(int64_t longest_ns)
{
    struct timespec until;
    int status = pthread_mutex_trylock(&lock);
    if (status) {
        clock_gettime(CLOCK_OF_WAITS, &until);
        until.tv_nsec += longest_ns;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        status = wait_for_lock(&until);
    }
    if (!status)
        tfd_attaching_begin(&holder);
    return status;
}

void tfd_attach_lock(void)
{
    pthread_mutex_lock(&lock);
    tfd_attaching_begin(&holder);
}

bool tfd_attach_trylock(void)
{
    bool locked = !pthread_mutex_trylock(&lock);
    if (locked)
        tfd_attaching_begin(&holder);
    return locked;
}

void tfd_attach_unlock(void)
{
    tfd_attaching_end(&holder);
    pthread_mutex_unlock(&lock);
}

static void make_way_for_forks(void)
{
    for (int64_t slept_ns = 0; atomic_load(&forks_waiting) && slept_ns < FORKS_FIRST_NS;
         slept_ns += MAKE_WAY_NS)
        nanosleep(&(struct timespec){0, MAKE_WAY_NS}, NULL);
}

bool tfd_attach_lock_timed(void)
{
    int status;
    make_way_for_forks();
    int64_t since_ns = tfd_backoff_begins();
    do
        status = lock_within(LOOK_EVERY_NS);
    while (status == ETIMEDOUT && tfd_backoff_lasts(&holder, since_ns));
    return !status;
}

/* Threads that attach let this one go first: on a busy machine it may not run
 * for a while, and they would take the lock before it runs again. */
bool tfd_attach_lock_before_fork(void)
{
    if (fork_depth++)
        return false;
    atomic_fetch_add(&forks_waiting, 1);
    locked_for_fork = !lock_within(FORK_WAIT_NS);
    atomic_fetch_sub(&forks_waiting, 1);
    return locked_for_fork;
}

bool tfd_attach_is_locked_for_fork(void)
{
    return fork_depth == 1 && locked_for_fork;
}

void tfd_attach_lock_after_fork(void)
{
    if (!--fork_depth && locked_for_fork)
        tfd_attach_unlock();
}

void tfd_attach_lock_reset_in_child(void)
{
    lock = (pthread_mutex_t)PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    tfd_attaching_end(&holder);
    atomic_store(&forks_waiting, 0);
    locked_for_fork = false;
    fork_depth--;
}
