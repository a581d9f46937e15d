/* Threads wait for an emulated device while their session stops, children are forked, signal handlers read from the
 * device too, and a thread is cancelled. No thread hangs, no data is lost, and the next session is as fast as the
 * storage. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "check.h"
#include "children.h"

#define THREADS 4
#define READ_NS 5000000u
#define READ_BYTES 4096

static char path[PATH_MAX];
static atomic_bool ending;
static atomic_long reads_done;
static int signal_fd;

static void start_emulated(const char *directory)
{
    struct tfd_storage_model model = {.read_ns = READ_NS, .concurrency = 8};
    const char *const paths[] = {path};
    CHECK(tfd_emulate(&model, paths, 1) == 0);
    check_start(directory);
}

static uint64_t calls_served(void)
{
    struct tfd_emulation_totals totals;
    tfd_emulation_totals(&totals);
    return totals.calls;
}

static void read_once(int fd)
{
    char buffer[READ_BYTES];
    errno = EXDEV;
    CHECK(pread(fd, buffer, sizeof buffer, 0) == READ_BYTES);
    CHECK(errno == EXDEV);
    atomic_fetch_add(&reads_done, 1);
}

static void *read_on(void *unused)
{
    (void)unused;
    int fd = open(path, O_RDONLY);
    CHECK(fd >= 0);
    while (!atomic_load(&ending))
        read_once(fd);
    close(fd);
    return NULL;
}

static void read_in_handler(int number)
{
    char byte;
    int saved_errno = errno;
    (void)number;
    CHECK(pread(signal_fd, &byte, 1, 0) == 1);
    errno = saved_errno;
}

static void fork_and_read(void)
{
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        int fd = open(path, O_RDONLY);
        read_once(fd);
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

/* A cancelled thread ends at a cancellation point of its own, not inside the wait. */
static void *read_until_cancelled(void *fd)
{
    for (;;)
        read_once(*(int *)fd);
    return NULL;
}

static void cancel_a_reader(void)
{
    pthread_t thread;
    void *result;
    int fd = open(path, O_RDONLY);
    CHECK(pthread_create(&thread, NULL, read_until_cancelled, &fd) == 0);
    child_pause();
    CHECK(pthread_cancel(thread) == 0 && pthread_join(thread, &result) == 0);
    CHECK(result == PTHREAD_CANCELED);
    close(fd);
}

int main(int argc, char **argv)
{
    CHECK(argc >= 2);
    check_make_file(path, argv[1], "data", READ_BYTES);
    signal_fd = open(path, O_RDONLY);
    CHECK(signal_fd >= 0);
    struct sigaction action = {.sa_handler = read_in_handler, .sa_flags = SA_RESTART};
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);

    for (long round = check_repeats(argc, argv, 3); round > 0; round--) {
        pthread_t threads[THREADS];
        atomic_store(&ending, false);
        start_emulated(argv[1]);
        for (int i = 0; i < THREADS; i++)
            CHECK(pthread_create(&threads[i], NULL, read_on, NULL) == 0);
        for (int i = 0; i < 3; i++) {
            CHECK(pthread_kill(threads[i], SIGUSR1) == 0);
            fork_and_read();
        }
        cancel_a_reader();
        check_stop(); /* with all of them waiting */
        CHECK(calls_served() > THREADS);
        check_drop_spool(argv[1], getpid());

        /* The next session has no such device, even for those that still wait. */
        check_start(argv[1]);
        child_pause();
        uint64_t served = calls_served();
        long before = atomic_load(&reads_done);
        int64_t start_ns = child_now_ns();
        while (child_now_ns() - start_ns < (int64_t)4 * READ_NS)
            child_pause();
        CHECK_EQUAL(calls_served() - served > THREADS, 0);
        CHECK(atomic_load(&reads_done) - before > 0);
        atomic_store(&ending, true);
        for (int i = 0; i < THREADS; i++)
            CHECK(pthread_join(threads[i], NULL) == 0);
        check_stop();
        check_drop_spool(argv[1], getpid());
    }
    return 0;
}
