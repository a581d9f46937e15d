/* Who wants to attach, to join or to fork waits for another that attaches, but never for long: how long it would wait is
 * asked here, of the C library's waits for a lock, which end at once. */
#define _GNU_SOURCE
#include <pthread.h>
#include <time.h>

#include "base/attach_lock.h"
#include "check.h"

#define NS 1000000000

static long long asked_ns; /* the last wait's */

static int end_at_once(clockid_t clock, const struct timespec *until)
{
    struct timespec now;
    clock_gettime(clock, &now);
    asked_ns = (until->tv_sec - now.tv_sec) * (long long)NS + until->tv_nsec - now.tv_nsec;
    return ETIMEDOUT;
}

int pthread_mutex_clocklock(pthread_mutex_t *lock, clockid_t clock, const struct timespec *until)
{
    CHECK(lock == &tfd_attach_lock);
    return end_at_once(clock, until);
}

int pthread_mutex_timedlock(pthread_mutex_t *lock, const struct timespec *until)
{
    CHECK(lock == &tfd_attach_lock);
    return end_at_once(CLOCK_REALTIME, until);
}

static void *want_it(void *unused)
{
    (void)unused;
    CHECK(!tfd_attach_lock_with_patience());
    CHECK(asked_ns <= 50000000);
    CHECK(!tfd_attach_lock_before_fork());
    CHECK(asked_ns <= NS);
    tfd_attach_lock_after_fork();
    return NULL;
}

int main(void)
{
    pthread_t other;
    CHECK(!pthread_mutex_lock(&tfd_attach_lock));
    CHECK(!pthread_create(&other, NULL, want_it, NULL) && !pthread_join(other, NULL));
    CHECK(!pthread_mutex_unlock(&tfd_attach_lock));
    CHECK(tfd_attach_lock_with_patience());
    CHECK(!pthread_mutex_unlock(&tfd_attach_lock));
    return 0;
}
