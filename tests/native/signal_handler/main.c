/* A signal handler does I/O at a high rate, also while its thread is inside the recorder. Nothing hangs, and each of
 * its calls is an event or in the sum of skipped calls. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#include "recorded.h"

#define READS 20000
#define SHORT_THREADS 200

static char data_path[PATH_MAX], log_path[PATH_MAX], reopened_path[PATH_MAX];
static int data_fd, log_fd;
static _Atomic int64_t handled;
static _Atomic bool stopping;
static pthread_t target;

static void on_signal(int signal)
{
    (void)signal;
    int saved_errno = errno;
    CHECK(write(log_fd, "x", 1) == 1);
    atomic_fetch_add(&handled, 1);
    errno = saved_errno;
}

static void *pester(void *unused)
{
    (void)unused;
    while (!atomic_load(&stopping))
        CHECK(pthread_kill(target, SIGUSR1) == 0);
    return NULL;
}

static void start_timer(timer_t *timer)
{
    struct itimerspec often = {{0, 50000}, {0, 50000}};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    CHECK(timer_create(CLOCK_MONOTONIC, &event, timer) == 0);
    CHECK(timer_settime(*timer, 0, &often, NULL) == 0);
}

static void read_and_reopen(void)
{
    char byte;
    for (int i = 0; i < READS; i++) {
        CHECK(pread(data_fd, &byte, 1, i) == 1);
        if (i % 16)
            continue;
        int fd = open(reopened_path, O_RDONLY);
        CHECK(fd >= 0 && read(fd, &byte, 1) == 1 && close(fd) == 0);
    }
}

/* A thread's first call sets its recording up: that is interrupted here. */
static void *read_first(void *unused)
{
    char byte;
    (void)unused;
    CHECK(pread(data_fd, &byte, 1, 0) == 1);
    return NULL;
}

static void read_in_short_threads(void)
{
    for (int i = 0; i < SHORT_THREADS; i++) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, read_first, NULL) == 0);
        CHECK(pthread_join(thread, NULL) == 0);
    }
}

static void mask_signals(int how)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    sigaddset(&set, SIGUSR1);
    CHECK(pthread_sigmask(how, &set, NULL) == 0);
}

static void check_spool(const char *directory)
{
    struct tfd_spool spool = recorded_open(directory, getpid());
    int64_t calls = atomic_load(&handled), reopened = (READS + 15) / 16;
    struct tally written = recorded_tally(&spool, log_path, TFD_OP_WRITE);
    struct tfd_other_traffic skipped = recorded_other(&spool, TFD_OTHER_SKIPPED);
    CHECK(calls > 100);
    CHECK_EQUAL(recorded_dropped(&spool), 0);
    CHECK_EQUAL(written.calls + skipped.writes, calls);
    CHECK_EQUAL(written.bytes + skipped.bytes_written, calls);
    CHECK_EQUAL(recorded_tally(&spool, data_path, TFD_OP_PREAD).calls, READS + SHORT_THREADS);
    CHECK_EQUAL(recorded_tally(&spool, reopened_path, TFD_OP_OPEN).calls, reopened);
    CHECK_EQUAL(recorded_tally(&spool, reopened_path, TFD_OP_READ).calls, reopened);
    CHECK_EQUAL(recorded_tally(&spool, reopened_path, TFD_OP_CLOSE).calls, reopened);
    recorded_close(&spool);
}

int main(int argc, char **argv)
{
    CHECK(argc >= 2);
    pthread_t pesterer;
    timer_t timer;
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    check_make_file(data_path, argv[1], "data", READS);
    check_make_file(reopened_path, argv[1], "reopened", READS);
    check_make_file(log_path, argv[1], "log", 0);
    data_fd = open(data_path, O_RDONLY);
    log_fd = open(log_path, O_WRONLY);
    CHECK(data_fd >= 0 && log_fd >= 0);
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0 && sigaction(SIGALRM, &action, NULL) == 0);
    mask_signals(SIG_BLOCK);
    struct tfd_options options = check_options(argv[1]);
    options.capacity_bytes = 256u << 20;
    options.trace_limit_bytes = 192u << 20;
    check_start_with(&options);
    target = pthread_self();
    CHECK(pthread_create(&pesterer, NULL, pester, NULL) == 0);
    start_timer(&timer);
    mask_signals(SIG_UNBLOCK);
    read_and_reopen();
    read_in_short_threads();
    atomic_store(&stopping, true);
    CHECK(pthread_join(pesterer, NULL) == 0);
    CHECK(timer_delete(timer) == 0);
    mask_signals(SIG_BLOCK);
    check_stop();
    check_spool(argv[1]);
    return 0;
}
