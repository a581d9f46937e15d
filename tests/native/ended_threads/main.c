/* Threads come and go: what those that ended leave in the spool is used again, every call counts once and for its own
 * thread, whenever the process is killed. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "children.h"
#include "counted.h"
#include "recorded.h"
#include "recorder/ended_threads.h"
#include "spool/memory_cap.h"
#include "spool_builder.h"

#define AT_ONCE 8
#define MOST_CALLS 300     /* of a thread: one or two chunks */
#define OFFSETS 1000       /* of each thread: the place of a call in the file tells whose it is */
#define FIRST_THREADS 1000 /* until no more is needed */
/* Bytes of the spool afterwards: what the sets of intervals still grow by, and little of 3 MB for the records of 10,000
 * threads, or of 100 MB for their chunks. */
#define MOST_GROWTH (512u << 10)
#define MOST_RECORDS 600
#define KILL_AFTER 300 /* threads, when records are handed on */
#define KILL_WITHIN_US 40000
#if defined(__SANITIZE_THREAD__) /* one thread: it shows nothing there */
#define STEPS_PER_READ 0
#elif defined(__SANITIZE_ADDRESS__)
#define STEPS_PER_READ 97
#else
#define STEPS_PER_READ 3
#endif

/* What threads have begun and done, also for who killed them. */
struct progress {
    _Atomic int64_t threads, reads_begun, reads, writes_begun, writes;
};

static const char *directory;
static char data_path[PATH_MAX];
static int data_fd, null_fd;
static struct progress *progress;
static long steps_per_read = STEPS_PER_READ;

static void read_bytes(int calls)
{
    int64_t tid = syscall(SYS_gettid);
    char byte;
    for (int i = 0; i < calls; i++) {
        atomic_fetch_add(&progress->reads_begun, 1);
        CHECK(pread(data_fd, &byte, 1, tid * OFFSETS + i) == 1);
        atomic_fetch_add(&progress->reads, 1);
    }
}

static void *short_thread(void *unused)
{
    (void)unused;
    int64_t number = atomic_fetch_add(&progress->threads, 1);
    read_bytes((int)(number % MOST_CALLS));
    atomic_fetch_add(&progress->writes_begun, 1);
    CHECK(write(null_fd, "x", 1) == 1);
    atomic_fetch_add(&progress->writes, 1);
    return NULL;
}

static void run_threads(int64_t until)
{
    pthread_t threads[AT_ONCE];
    while (atomic_load(&progress->threads) < until) {
        for (int i = 0; i < AT_ONCE; i++)
            CHECK(pthread_create(&threads[i], NULL, short_thread, NULL) == 0);
        read_bytes(10);
        for (int i = 0; i < AT_ONCE; i++)
            CHECK(pthread_join(threads[i], NULL) == 0);
    }
}

static void start(uint64_t trace_limit_bytes)
{
    struct tfd_options options = check_options(directory);
    options.trace_limit_bytes = trace_limit_bytes;
    *progress = (struct progress){0};
    check_start_with(&options);
}

static uint64_t used_bytes(void)
{
    struct tfd_spool spool = recorded_open(directory, getpid());
    uint64_t used = atomic_load(&spool.header->used_bytes);
    recorded_close(&spool);
    return used;
}

/* Sums of records, of which some are several threads'. */
static void check_records(struct tfd_reader *reader, int64_t *events, int64_t *writes)
{
    struct tfd_thread_info thread;
    uint64_t records = counted_info(reader).threads;
    *events = *writes = 0;
    for (uint64_t i = 0; i < records; i++) {
        CHECK(tfd_reader_thread(reader, i, &thread) == 0);
        *events += (int64_t)thread.events;
        *writes += thread.other[TFD_OTHER_DEVICE][2];
    }
}

typedef size_t read_calls(struct tfd_reader *reader, uint64_t first, size_t rows,
                          struct tfd_event_batch *batch);

/* Return how many calls there are. Each has the thread that made it. */
static uint64_t check_tids(struct tfd_reader *reader, read_calls *read)
{
    int64_t start_ns, end_ns, offset, length;
    int32_t tid;
    uint32_t file;
    int16_t error;
    uint8_t operation, flags;
    struct tfd_event_batch batch = {&start_ns, &end_ns, &tid,    &operation, &flags,
                                    &error,    &file,   &offset, &length};
    uint64_t calls = 0;
    while (read(reader, calls, 1, &batch)) {
        calls++;
        CHECK(operation != TFD_OP_PREAD || offset / OFFSETS == tid);
    }
    return calls;
}

static void test_memory_is_flat(uint64_t trace_limit_bytes, long count)
{
    int64_t events, writes;
    start(trace_limit_bytes);
    run_threads(FIRST_THREADS);
    uint64_t before = used_bytes();
    run_threads(FIRST_THREADS + count);
    uint64_t after = used_bytes();
    check_stop();
    printf("%.1f bytes of the spool for each of %ld threads\n", (double)(after - before) / (double)count,
           count);
    struct tfd_reader *reader = counted_open(directory, getpid());
    struct tfd_spool_info info = counted_info(reader);
    CHECK(!info.damaged && info.segments + info.events_dropped == info.events);
    CHECK_EQUAL(counted_sum(reader, data_path, "POSIX_READS"), atomic_load(&progress->reads));
    CHECK_EQUAL(counted_sum(reader, data_path, "POSIX_BYTES_READ"), atomic_load(&progress->reads));
    check_records(reader, &events, &writes);
    CHECK_EQUAL(events, info.events);
    CHECK_EQUAL(writes, atomic_load(&progress->writes));
    CHECK_EQUAL(check_tids(reader, tfd_reader_events), info.segments);
    CHECK((check_tids(reader, tfd_reader_thinned) > 0) == (trace_limit_bytes > 0));
    tfd_reader_close(reader);
    check_drop_spool(directory, getpid());
    CHECK(info.threads < MOST_RECORDS && after - before < MOST_GROWTH);
}

static void check_killed(pid_t child)
{
    int64_t events, writes;
    struct tfd_reader *reader = counted_open(directory, child);
    CHECK_EQUAL(counted_info(reader).damaged, 0);
    int64_t reads = counted_sum(reader, data_path, "POSIX_READS");
    CHECK(reads >= atomic_load(&progress->reads) && reads <= atomic_load(&progress->reads_begun));
    check_records(reader, &events, &writes);
    CHECK(writes >= atomic_load(&progress->writes) && writes <= atomic_load(&progress->writes_begun));
    check_tids(reader, tfd_reader_thinned);
    tfd_reader_close(reader);
    check_drop_spool(directory, child);
}

static void test_kills(long kills)
{
    static const uint64_t limits[] = {0, 64u << 10, 256u << 10};
    for (long i = 0; i < kills; i++) {
        *progress = (struct progress){0};
        pid_t child = child_fork();
        if (!child) {
            start(limits[i % 3]);
            run_threads(INT64_MAX);
        }
        while (atomic_load(&progress->threads) < KILL_AFTER)
            child_pause();
        usleep((useconds_t)(rand() % KILL_WITHIN_US));
        CHECK(kill(child, SIGKILL) == 0);
        CHECK(WIFSIGNALED(child_wait(child)));
        check_killed(child);
    }
}

/* ---- the hand-over, step by step ---- */

enum {
    OTHERS,
    ENDED,
    LIVE,
    ENDED_TID = 7,
    LIVE_TID = 8,
    NEW_TID = 9,
    CALLS_OF_EACH = 30,
    FOLDED = 54,
    WRITES = 3
};

static void record_call(struct tfd_spool *spool, uint32_t thread, uint32_t file, int i)
{
    int64_t tid = tfd_thread_at(spool, thread)->tid;
    uint64_t now = BUILDER_START + 100 * (uint64_t)i + thread;
    struct tfd_event event = {now, now + 10, tid * OFFSETS + i, 1, file, TFD_OP_PREAD, 0, 0};
    uint64_t current = tfd_thread_at(spool, thread)->current_chunk;
    if (!current || !tfd_chunk_append(tfd_at(spool, current), &event))
        CHECK(tfd_chunk_append(builder_chunk(spool, thread, 40, false), &event));
}

static _Noreturn void hand_over_and_exit(void)
{
    struct tfd_spool spool;
    builder_create(&spool, directory, 4u << 20);
    spool.header->trace_limit_bytes = 256u << 10;
    tfd_memory_cap_find(&spool, directory, (int32_t)getpid());
    builder_mount(&spool, "/", 4096);
    uint32_t file = builder_file(&spool, data_path, 0);
    CHECK(builder_thread(&spool, 0) == OTHERS && builder_thread(&spool, ENDED_TID) == ENDED);
    CHECK(builder_thread(&spool, LIVE_TID) == LIVE && tfd_fold_prepare(&spool));
    for (int i = 0; i < CALLS_OF_EACH; i++) {
        record_call(&spool, ENDED, file, i);
        record_call(&spool, LIVE, file, i);
    }
    tfd_thread_at(&spool, ENDED)->other[TFD_OTHER_DEVICE].writes = WRITES;
    CHECK(tfd_drain(&spool, FOLDED) == FOLDED);
    CHECK(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0);
    raise(SIGSTOP);
    CHECK(tfd_ended_thread_take_over(&spool, tfd_thread_at(&spool, ENDED), NEW_TID, "new"));
    CHECK(tfd_ended_chunk_take(&spool, TFD_CHUNK_BYTES(0)) == 0); /* these had another size */
    _exit(0);
}

/* Return the id of the record that is handed over. */
static int32_t check_step(pid_t child)
{
    int64_t events, writes;
    struct tfd_thread_info thread;
    struct tfd_reader *reader = counted_open(directory, child);
    struct tfd_spool_info info = counted_info(reader);
    CHECK(!info.damaged && info.events == 2 * CALLS_OF_EACH && info.threads == 3);
    CHECK_EQUAL(counted_sum(reader, data_path, "POSIX_READS"), info.events);
    CHECK_EQUAL(check_tids(reader, tfd_reader_thinned), info.events);
    check_records(reader, &events, &writes);
    CHECK(events == (int64_t)info.events && writes == WRITES);
    CHECK(tfd_reader_thread(reader, ENDED, &thread) == 0);
    CHECK(thread.events == (thread.tid == ENDED_TID ? CALLS_OF_EACH : 0));
    CHECK(!strcmp(thread.name, thread.tid == ENDED_TID ? "t7" : "new"));
    tfd_reader_close(reader);
    return thread.tid;
}

static void test_a_kill_at_each_step(void)
{
    int status;
    int32_t tid = ENDED_TID;
    long steps = 0;
    pid_t child = fork();
    if (!child)
        hand_over_and_exit();
    CHECK(waitpid(child, &status, 0) == child && WIFSTOPPED(status));
    for (;; steps++) {
        if (steps % steps_per_read == 0) {
            int32_t found = check_step(child);
            CHECK(found == tid || (found == NEW_TID && tid == ENDED_TID));
            tid = found;
        }
        CHECK(ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) == 0 && waitpid(child, &status, 0) == child);
        if (WIFEXITED(status))
            break;
    }
    CHECK(WEXITSTATUS(status) == 0 && steps > 1000);
    CHECK_EQUAL(check_step(child), NEW_TID);
    check_drop_spool(directory, child);
}

int main(int argc, char **argv)
{
    CHECK(argc >= 2);
    long count = check_repeats(argc, argv, 10000);
    directory = argv[1];
    progress = mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(progress != MAP_FAILED);
    check_make_file(data_path, directory, "data", (off_t)1 << 40); /* sparse */
    data_fd = open(data_path, O_RDONLY);
    null_fd = open("/dev/null", O_WRONLY);
    CHECK(data_fd >= 0 && null_fd >= 0);
    if (steps_per_read)
        test_a_kill_at_each_step();
    test_kills(count / 100);
    test_memory_is_flat(0, count);
    test_memory_is_flat(256u << 10, count);
    return 0;
}
