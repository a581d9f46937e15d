/* Beyond every limit the totals stay exact, and the report says what was left out. */
#define _GNU_SOURCE
#include <pthread.h>

#include "counted.h"

#define THREADS 4
#define FILES_OVER_CAP 40000
#define REOPENED 500

static char path[PATH_MAX];
static const char *directory;
static long reads;

static struct tfd_reader *stop_and_read(void)
{
    check_stop();
    struct tfd_reader *reader = counted_open(directory, getpid());
    check_drop_spool(directory, getpid());
    return reader;
}

static void *read_often(void *unused)
{
    char bytes[10];
    int fd = open(path, O_RDONLY);
    (void)unused;
    CHECK(fd >= 0);
    for (long i = 0; i < reads; i++)
        CHECK(pread(fd, bytes, sizeof bytes, 0) == sizeof bytes);
    CHECK(close(fd) == 0);
    return NULL;
}

static void read_in_threads(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, read_often, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

static void check_trace_limit(uint64_t capacity_bytes, uint64_t trace_limit_bytes)
{
    struct tfd_options options = check_options(directory);
    options.capacity_bytes = capacity_bytes;
    options.trace_limit_bytes = trace_limit_bytes;
    check_start_with(&options);
    read_in_threads();
    struct tfd_reader *reader = stop_and_read();
    struct tfd_spool_info info = counted_info(reader);
    CHECK_EQUAL(info.damaged, 0);
    CHECK_EQUAL(info.events, THREADS * (reads + 2));
    CHECK_EQUAL(info.segments + info.events_dropped, info.events);
    CHECK(info.events_dropped > 0 && info.spool_bytes <= capacity_bytes);
    CHECK_EQUAL(counted_sum(reader, path, "POSIX_OPENS"), THREADS);
    CHECK_EQUAL(counted_sum(reader, path, "POSIX_READS"), THREADS * reads);
    CHECK_EQUAL(counted_sum(reader, path, "POSIX_BYTES_READ"), THREADS * reads * 10);
    tfd_reader_close(reader);
}

/* Files that are not there are files as well: a failed open has a row. */
static void open_missing(int number)
{
    char missing[PATH_MAX], name[60];
    snprintf(name, sizeof name, "no/file/of/this/somewhat/longer/name/%d", number);
    CHECK(open(check_path(missing, directory, name), O_RDONLY) < 0 && errno == ENOENT);
}

/* One thread's calls do not overlap: the union of their times is their sum, for any capacity of the spool. */
static void check_time(uint64_t capacity_bytes)
{
    struct tfd_options options = check_options(directory);
    options.capacity_bytes = capacity_bytes;
    options.trace_limit_bytes = 0;
    check_start_with(&options);
    read_often(NULL);
    struct tfd_reader *reader = stop_and_read();
    struct tfd_spool_info info = counted_info(reader);
    CHECK_EQUAL(info.damaged, 0);
    CHECK_EQUAL(info.events, reads + 2);
    CHECK(info.io_ns > 0);
    int64_t difference = info.io_ns - info.thread_ns; /* of sums of rounded durations */
    CHECK(difference > -10 && difference < 10);
    tfd_reader_close(reader);
}

static void check_file_cap(void)
{
    struct tfd_options options = check_options(directory);
    options.capacity_bytes = 4u << 20;
    options.trace_limit_bytes = 1u << 20;
    check_start_with(&options);
    for (int i = 0; i < FILES_OVER_CAP; i++)
        open_missing(i);
    for (int i = 0; i < REOPENED; i++) /* known since before the cap was reached */
        open_missing(i);
    for (int i = 0; i < REOPENED; i++) /* beyond the cap: not more of them */
        open_missing(FILES_OVER_CAP - 1 - i);
    struct tfd_reader *reader = stop_and_read();
    struct tfd_spool_info info = counted_info(reader);
    CHECK_EQUAL(info.damaged, 0);
    CHECK_EQUAL(info.events, FILES_OVER_CAP + 2 * REOPENED);
    CHECK(info.files > 1000 && info.files < FILES_OVER_CAP);
    CHECK_EQUAL(info.files + info.files_over_cap, FILES_OVER_CAP);
    CHECK(info.spool_bytes <= options.capacity_bytes);
    CHECK_EQUAL(counted_sum(reader, NULL, "TFD_FAILED_CALLS"), FILES_OVER_CAP + 2 * REOPENED);
    struct tfd_failure failure;
    CHECK_EQUAL(tfd_reader_failures(reader, &failure, 1), 1);
    CHECK_EQUAL(failure.error, ENOENT);
    CHECK_EQUAL(failure.calls, FILES_OVER_CAP + 2 * REOPENED);
    tfd_reader_close(reader);
}

int main(int argc, char **argv)
{
    CHECK(argc >= 2);
    reads = check_repeats(argc, argv, 200000);
    directory = argv[1];
    check_make_file(path, directory, "data", 1000);
    check_trace_limit(64u << 20, 256u << 10);
    check_trace_limit(64u << 20, 0);
    check_trace_limit(4u << 20, 4u << 20);
    check_time(16u << 20);
    check_time(20u << 20); /* a number of intervals that is no power of two would fit in it */
    check_time(100u << 20);
    check_file_cap();
    return 0;
}
