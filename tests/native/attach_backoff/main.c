/* A thread that wants to attach or join waits for another that attaches, while that thread gets on, and never for
 * long. A thread that forks waits for 1 s. The clock moves only by waits, and the test says whether the other thread
 * sleeps or uses processor time. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/attach_lock.h"
#include "base/backoff.h"
#include "base/process_identity.h"
#include "check.h"

#define NS 1000000000LL
#define ASLEEP_NS 50000000LL
#define LOOK_NS 5000000LL

static _Atomic long long now_ns = NS; /* of the clocks that are read here */
static _Atomic long long cpu_ns;      /* that the other thread has used */
static _Atomic long long works_until_ns, lets_go_ns;
static _Atomic bool awake, ended;

static struct timespec time_of(long long ns)
{
    return (struct timespec){ns / NS, ns % NS};
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    if (clock < 0 && atomic_load(&ended)) {
        errno = EINVAL;
        return -1;
    }
    if (clock < 0 && atomic_load(&now_ns) < atomic_load(&works_until_ns))
        atomic_fetch_add(&cpu_ns, 1);
    *time = time_of(clock < 0 ? atomic_load(&cpu_ns) : atomic_load(&now_ns));
    return 0;
}

bool tfd_thread_is_awake(int32_t tid)
{
    CHECK(tid > 0);
    return atomic_load(&awake);
}

static int pass_time(const struct timespec *until)
{
    long long until_ns = until->tv_sec * NS + until->tv_nsec;
    if (atomic_load(&lets_go_ns) && until_ns >= atomic_load(&lets_go_ns))
        return 0; /* as if it held the lock now */
    CHECK(until_ns >= atomic_load(&now_ns));
    atomic_store(&now_ns, until_ns);
    return ETIMEDOUT;
}

int pthread_mutex_clocklock(pthread_mutex_t *lock, clockid_t clock, const struct timespec *until)
{
    (void)lock;
    CHECK(clock == CLOCK_MONOTONIC);
    return pass_time(until);
}

int pthread_mutex_timedlock(pthread_mutex_t *lock, const struct timespec *until)
{
    (void)lock;
    return pass_time(until);
}

static void *want_it(void *got_it)
{
    *(bool *)got_it = tfd_attach_lock_timed();
    return NULL;
}

static long long waited_ns(bool gets_it)
{
    long long before_ns = atomic_load(&now_ns);
    bool got_it;
    pthread_t other;
    CHECK(!pthread_create(&other, NULL, want_it, &got_it) && !pthread_join(other, NULL));
    CHECK_EQUAL(got_it, gets_it);
    return atomic_load(&now_ns) - before_ns;
}

static void begin(void)
{
    tfd_attach_lock();
    atomic_store(&works_until_ns, 0);
    atomic_store(&awake, false);
    atomic_store(&ended, false);
}

static void check_one_that_sleeps(void)
{
    begin();
    long long first_ns = waited_ns(false);
    CHECK(first_ns >= ASLEEP_NS && first_ns <= ASLEEP_NS + LOOK_NS);
    CHECK(waited_ns(false) <= LOOK_NS); /* nobody waits for it any more */
    tfd_attach_unlock();
}

static void check_one_that_works(void)
{
    begin();
    atomic_store(&works_until_ns, INT64_MAX);
    long long first_ns = waited_ns(false);
    CHECK(first_ns >= NS - LOOK_NS && first_ns <= NS + LOOK_NS);
    CHECK(waited_ns(false) <= LOOK_NS);
    tfd_attach_unlock();
}

/* It has a processor after 300 ms, and sleeps from then on. */
static void check_one_that_works_and_sleeps(void)
{
    begin();
    atomic_store(&works_until_ns, atomic_load(&now_ns) + 300000000);
    long long first_ns = waited_ns(false);
    CHECK(first_ns >= 300000000 + ASLEEP_NS - LOOK_NS && first_ns <= 300000000 + ASLEEP_NS + LOOK_NS);
    tfd_attach_unlock();
}

/* As on a busy machine: it uses no time, and would. */
static void check_one_without_a_processor(void)
{
    begin();
    atomic_store(&awake, true);
    long long first_ns = waited_ns(false);
    CHECK(first_ns >= NS - LOOK_NS && first_ns <= NS + LOOK_NS);
    tfd_attach_unlock();
}

static void check_one_that_has_ended(void)
{
    begin();
    atomic_store(&ended, true);
    CHECK(waited_ns(false) <= ASLEEP_NS + LOOK_NS);
    tfd_attach_unlock();
}

static void check_one_that_lets_go(void)
{
    begin();
    atomic_store(&awake, true);
    atomic_store(&lets_go_ns, atomic_load(&now_ns) + 700000000);
    CHECK(waited_ns(true) <= 700000000);
    atomic_store(&lets_go_ns, 0);
    tfd_attach_unlock();
}

/* A signal handler that opens a file while its thread attaches. */
static void check_the_thread_itself(void)
{
    struct tfd_attaching self = {0};
    begin();
    tfd_attaching_begin(&self);
    CHECK(!tfd_backoff_lasts(&self, tfd_backoff_begins()));
    tfd_attaching_end(&self);
    tfd_attach_unlock();
}

static void *fork_beside(void *unused)
{
    long long before_ns = atomic_load(&now_ns);
    (void)unused;
    CHECK(!tfd_attach_lock_before_fork());
    CHECK_EQUAL(atomic_load(&now_ns) - before_ns, NS);
    tfd_attach_lock_after_fork();
    return NULL;
}

static void check_fork(void)
{
    pthread_t other;
    begin();
    CHECK(!pthread_create(&other, NULL, fork_beside, NULL) && !pthread_join(other, NULL));
    tfd_attach_unlock();
}

static int ends[2];
static _Atomic int32_t reader_tid;

static void *read_pipe(void *unused)
{
    char byte;
    (void)unused;
    atomic_store(&reader_tid, (int32_t)syscall(SYS_gettid));
    CHECK_EQUAL(read(ends[0], &byte, 1), 1);
    return NULL;
}

/* What the kernel says of threads. */
static void check_threads(void)
{
    bool (*is_awake)(int32_t tid) = (bool (*)(int32_t))(uintptr_t)dlsym(RTLD_NEXT, "tfd_thread_is_awake");
    pthread_t reader;
    CHECK(is_awake && is_awake((int32_t)syscall(SYS_gettid)));
    CHECK(!pipe(ends) && !pthread_create(&reader, NULL, read_pipe, NULL));
    while (!atomic_load(&reader_tid) || is_awake(atomic_load(&reader_tid)))
        usleep(1000);
    CHECK(write(ends[1], "", 1) == 1 && !pthread_join(reader, NULL));
    while (is_awake(atomic_load(&reader_tid))) /* on its way out of the kernel */
        usleep(1000);
    CHECK(!is_awake(0) && !close(ends[0]) && !close(ends[1]));
}

int main(void)
{
    alarm(60);
    check_one_that_sleeps();
    check_one_that_works();
    check_one_that_works_and_sleeps();
    check_one_without_a_processor();
    check_one_that_has_ended();
    check_one_that_lets_go();
    check_the_thread_itself();
    check_fork();
    check_threads();
    CHECK(tfd_attach_lock_timed());
    tfd_attach_unlock();
    return 0;
}
