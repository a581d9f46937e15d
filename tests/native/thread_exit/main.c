/* No call is lost when a thread ends, nor calls of a thread's key destructors and of the process's exit handlers. */
#define _GNU_SOURCE
#include <pthread.h>

#include "children.h"
#include "counted.h"
#include "recorded.h"

#define AT_ONCE 8

static char data_path[PATH_MAX], log_path[PATH_MAX];
static int data_fd, log_fd;
static pthread_key_t key;

static void write_at_thread_exit(void *value)
{
    (void)value;
    CHECK(write(log_fd, "thread", 6) == 6);
}

static void write_at_process_exit(void)
{
    CHECK(write(log_fd, "the end", 7) == 7);
}

static void *read_once(void *unused)
{
    char byte;
    (void)unused;
    CHECK(pthread_setspecific(key, &key) == 0);
    CHECK(pread(data_fd, &byte, 1, 0) == 1);
    return NULL;
}

static void run_threads(long count)
{
    pthread_t threads[AT_ONCE];
    for (long done = 0; done < count; done += AT_ONCE) {
        for (int i = 0; i < AT_ONCE; i++)
            CHECK(pthread_create(&threads[i], NULL, read_once, NULL) == 0);
        for (int i = 0; i < AT_ONCE; i++)
            CHECK(pthread_join(threads[i], NULL) == 0);
    }
}

static void be_recorded(const char *directory, long count)
{
    struct tfd_options options = check_options(directory);
    options.capacity_bytes = 32u << 20; /* too small for a chunk each */
    options.trace_limit_bytes = 8u << 20;
    data_fd = open(data_path, O_RDONLY);
    log_fd = open(log_path, O_WRONLY);
    CHECK(pthread_key_create(&key, write_at_thread_exit) == 0);
    check_start_with(&options);
    CHECK(atexit(write_at_process_exit) == 0);
    run_threads(count);
    exit(0);
}

int main(int argc, char **argv)
{
    CHECK(argc >= 2);
    long count = check_repeats(argc, argv, 10000);
    check_make_file(data_path, argv[1], "data", 1);
    check_make_file(log_path, argv[1], "log", 0);
    pid_t pid = child_fork();
    if (!pid)
        be_recorded(argv[1], count);
    CHECK_EQUAL(child_wait(pid), 0);
    struct tfd_reader *reader = counted_open(argv[1], pid);
    struct tfd_spool_info info = counted_info(reader);
    CHECK_EQUAL(info.stopped, 1);
    CHECK_EQUAL(info.damaged, 0);
    CHECK_EQUAL(counted_sum(reader, data_path, "POSIX_READS"), count);
    CHECK_EQUAL(counted_sum(reader, data_path, "POSIX_BYTES_READ"), count);
    CHECK_EQUAL(counted_sum(reader, log_path, "POSIX_WRITES"), count + 1);
    CHECK_EQUAL(counted_sum(reader, log_path, "POSIX_BYTES_WRITTEN"), 6 * count + 7);
    tfd_reader_close(reader);
    struct tfd_spool spool = recorded_open(argv[1], pid);
    CHECK_EQUAL(recorded_other(&spool, TFD_OTHER_SKIPPED).other_calls, 0);
    recorded_close(&spool);
    return 0;
}
