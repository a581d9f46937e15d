/* Children are forked while eight threads record. No child hangs, and each has exactly its own calls in its own spool,
 * however it ends. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>

#include "children.h"
#include "recorded.h"

#define BUSY_THREADS 8
#define CHILD_THREADS 3
#define AT_ONCE 4
#define BURST 200
#define FILE_BYTES 4096
#define BYTES_READ 100

static char paths[BUSY_THREADS][PATH_MAX], child_path[PATH_MAX];
static _Atomic bool stopping;
static _Atomic int64_t parent_reads;
static _Atomic int busy_threads;

static int read_times(const char *path, int times)
{
    char bytes[BYTES_READ];
    int fd = open(path, O_RDONLY);
    CHECK(fd >= 0);
    for (int i = 0; i < times; i++)
        CHECK_EQUAL(pread(fd, bytes, sizeof bytes, i), BYTES_READ);
    return fd;
}

/* With short pauses, or the children would hardly get to run beside them. */
static void *be_busy(void *path)
{
    CHECK(close(read_times(path, 0)) == 0);
    atomic_fetch_add(&busy_threads, 1);
    while (!atomic_load(&stopping)) {
        CHECK(close(read_times(path, BURST)) == 0);
        atomic_fetch_add(&parent_reads, BURST);
        child_pause();
    }
    return NULL;
}

static void *read_in_child(void *times)
{
    CHECK(close(read_times(child_path, *(int *)times)) == 0);
    return NULL;
}

/* Threads started at once, so that several of them make the child's first call. */
static void read_in_threads(int times)
{
    pthread_t threads[CHILD_THREADS];
    for (int i = 0; i < CHILD_THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, read_in_child, &times) == 0);
    for (int i = 0; i < CHILD_THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

/* What a child does depends on its number; the check below does the same sums. */
static bool is_threaded(long number)
{
    return number % 5 == 0;
}

static int times_of(long number)
{
    return 1 + (int)(number % 7);
}

static void be_child(long number)
{
    if (is_threaded(number))
        read_in_threads(times_of(number));
    else
        read_times(child_path, times_of(number)); /* not closed: the end may come at any time */
    if (number % 3 == 0)
        raise(SIGKILL);
    if (number % 3 == 1)
        exit(0);
    _exit(0);
}

static void check_end(long number, int status)
{
    if (number % 3 == 0)
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    else
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* The parent is still recording: its own calls here go to its own spool. */
static void check_spool(const char *directory, pid_t pid, long number)
{
    struct tfd_spool spool = recorded_open(directory, pid);
    int64_t opens = is_threaded(number) ? CHILD_THREADS : 1, reads = opens * times_of(number);
    CHECK_EQUAL(recorded_tally(&spool, child_path, TFD_OP_OPEN).calls, opens);
    CHECK_EQUAL(recorded_tally(&spool, child_path, TFD_OP_PREAD).calls, reads);
    CHECK_EQUAL(recorded_tally(&spool, child_path, TFD_OP_PREAD).bytes, reads * BYTES_READ);
    CHECK_EQUAL(recorded_tally(&spool, child_path, TFD_OP_CLOSE).calls, is_threaded(number) ? opens : 0);
    CHECK_EQUAL(recorded_tally(&spool, NULL, TFD_OP_PREAD).calls, reads);
    CHECK_EQUAL(spool.header->parent_pid, getpid());
    if (number % 3)
        CHECK_EQUAL(spool.header->state, TFD_SPOOL_STOPPED);
    recorded_close(&spool);
    check_drop_spool(directory, pid);
}

static void fork_some(const char *directory, long first)
{
    pid_t children[AT_ONCE];
    for (int i = 0; i < AT_ONCE; i++) {
        children[i] = child_fork();
        if (!children[i])
            be_child(first + i);
    }
    for (int i = 0; i < AT_ONCE; i++) {
        check_end(first + i, child_wait(children[i]));
        check_spool(directory, children[i], first + i);
    }
}

int main(int argc, char **argv)
{
    CHECK(argc >= 2);
    long count = check_repeats(argc, argv, 100);
    pthread_t threads[BUSY_THREADS];
    check_make_file(child_path, argv[1], "child", FILE_BYTES);
    for (int i = 0; i < BUSY_THREADS; i++) {
        char name[20];
        snprintf(name, sizeof name, "busy%d", i);
        check_make_file(paths[i], argv[1], name, FILE_BYTES);
    }
    struct tfd_options options = check_options(argv[1]);
    options.capacity_bytes = 1u << 30;
    options.trace_limit_bytes = 1u << 20;
    check_start_with(&options);
    for (int i = 0; i < BUSY_THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, be_busy, paths[i]) == 0);
    while (atomic_load(&busy_threads) < BUSY_THREADS)
        child_pause();
    for (long first = 0; first < count; first += AT_ONCE)
        fork_some(argv[1], first);
    atomic_store(&stopping, true);
    for (int i = 0; i < BUSY_THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    check_stop();
    struct tfd_spool spool = recorded_open(argv[1], getpid());
    CHECK_EQUAL(recorded_tally(&spool, child_path, -1).calls, 0);
    CHECK(recorded_dropped(&spool) + recorded_tally(&spool, NULL, -1).calls >= atomic_load(&parent_reads));
    recorded_close(&spool);
    return 0;
}
