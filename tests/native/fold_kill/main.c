/* A process is killed while it folds its own events. Whatever the instruction, a reader returns the same counters as
 * without the kill. The process is stepped through its folding, and its spool is read after some of the steps. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "counters/fold_state.h"
#include "spool_builder.h"

#ifdef __SANITIZE_ADDRESS__
#define STEPS_PER_READ 23 /* there are many more instructions then */
#else
#define STEPS_PER_READ 1
#endif
#define MOST_ROWS 16

struct scenario {
    uint32_t calls_before; /* folded before the stepping begins: so many disjoint intervals */
    void (*add_calls)(struct tfd_spool *spool, uint32_t thread, uint32_t file, uint32_t other);
    uint64_t events;
    int64_t io_ns;
};

static void add_varied_calls(struct tfd_spool *spool, uint32_t thread, uint32_t file, uint32_t other)
{
    uint64_t now = 0;
    builder_call(spool, thread, file, TFD_OP_OPEN, 0644, 0, now, now + 5);
    for (int64_t size = 1; size <= 9; size++) { /* the tables of sizes and strides grow */
        now += 100;
        builder_call(spool, thread, file, TFD_OP_PREAD, size * size * 1000, size, now, now + 10);
    }
    builder_call(spool, thread, file, TFD_OP_WRITE, 0, 700, now + 20, now + 30);
    builder_call(spool, thread, file, TFD_OP_FSYNC, -1, 0, now + 30, now + 40);
    builder_call(spool, thread, file, TFD_OP_PREAD, 0, 1, now - 300, now + 50); /* covers several intervals */
    builder_call(spool, thread, file, TFD_OP_PREAD, 0, 0, 150, 155);            /* out of order, in a gap */
    builder_call(spool, thread, file, TFD_OP_RENAME, other, 0, now + 60, now + 61);
    builder_call(spool, thread, other, TFD_OP_FOPEN, 0, 0, now + 70, now + 71);
    builder_call(spool, thread, other, TFD_OP_FWRITE, 0, 50, now + 72, now + 75);
    builder_event(spool, thread,
                  (struct tfd_event){BUILDER_START + now + 80, BUILDER_START + now + 82, 0, 0, file,
                                     TFD_OP_OPEN, 0, ENOENT});
    builder_call(spool, thread, file, TFD_OP_CLOSE, -1, 0, now + 90, now + 95);
}

/* The unions are full: for each of these an interval becomes final. */
static void add_late_calls(struct tfd_spool *spool, uint32_t thread, uint32_t file, uint32_t other)
{
    (void)other;
    for (uint64_t i = 0; i < 2; i++)
        builder_call(spool, thread, file, TFD_OP_PREAD, 0, 1, 1000000 + 100 * i, 1000000 + 100 * i + 7);
}

/* 600-950 with all in it, 5 preads before, and 5 + 5 + 1 + 1 + 3 + 2 + 5 ns. */
static const struct scenario scenarios[] = {
    {0, add_varied_calls, 19, 350 + 50 + 22},
    {TFD_RECORDER_INTERVALS + 1, add_late_calls, TFD_RECORDER_INTERVALS + 3, TFD_RECORDER_INTERVALS + 1 + 14},
};

static _Noreturn void fold_and_exit(const struct scenario *scenario, const char *directory)
{
    struct tfd_spool spool;
    builder_create(&spool, directory, 4u << 20);
    builder_mount(&spool, "/", 4096);
    uint32_t file = builder_file(&spool, "/data/a", 0), other = builder_file(&spool, "/data/b", 0);
    uint32_t thread = builder_thread(&spool, 1), recycled = builder_thread(&spool, 2);
    for (uint64_t i = 0; i < scenario->calls_before; i++)
        builder_call(&spool, thread, other, TFD_OP_PREAD, 0, 1, 10 * i, 10 * i + 1);
    /* This makes the reader rely on what was folded here, and there is a place for it. */
    tfd_thread_at(&spool, recycled)->events_dropped = 1;
    CHECK(tfd_drain(&spool, UINT64_MAX) == scenario->calls_before);
    scenario->add_calls(&spool, thread, file, other);
    CHECK(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0);
    raise(SIGSTOP);
    tfd_drain(&spool, UINT64_MAX);
    _exit(0);
}

struct result {
    struct tfd_spool_info info;
    struct file_row rows[MOST_ROWS];
    struct tfd_failure failures[4];
    size_t failure_count;
};

static void read_all(const char *path, struct result *result)
{
    memset(result, 0, sizeof *result);
    struct tfd_reader *reader = tfd_reader_open(path);
    if (!reader)
        fprintf(stderr, "%s\n", tfd_last_error());
    CHECK(reader && tfd_reader_info(reader, &result->info) == 0);
    CHECK(result->info.file_rows <= MOST_ROWS);
    for (uint64_t i = 0; i < result->info.file_rows; i++)
        CHECK(next_row(reader, i, &result->rows[i]));
    result->failure_count = tfd_reader_failures(reader, result->failures, 4);
    result->info.spool_bytes = 0;
    tfd_reader_close(reader);
}

static void check_same(const struct result *result, const struct result *expected, long step)
{
    if (!memcmp(result, expected, sizeof *result))
        return;
    fprintf(stderr, "killed after %ld instructions: the counters differ; %llu events, damaged %u\n", step,
            (unsigned long long)result->info.events, result->info.damaged);
    exit(1);
}

static void check_varied_calls(const struct result *expected)
{
    CHECK(expected->failure_count == 1 && expected->info.file_rows == 3);
    CHECK(expected->rows[0].counters[TFD_COUNTER_POSIX_READS] == 11);
    CHECK(expected->rows[0].counters[TFD_COUNTER_POSIX_WRITES] == 1);
    CHECK(expected->rows[1].counters[TFD_COUNTER_POSIX_RENAME_TARGETS] == 1);
    CHECK(expected->rows[2].counters[TFD_COUNTER_STDIO_BYTES_WRITTEN] == 50);
}

static void step_through(pid_t child, const char *path, const struct result *expected)
{
    static struct result result;
    int status;
    long step = 0;
    for (;; step++) {
        CHECK(ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) == 0);
        CHECK(waitpid(child, &status, 0) == child);
        if (WIFEXITED(status))
            break;
        if (step % STEPS_PER_READ)
            continue;
        read_all(path, &result);
        check_same(&result, expected, step);
    }
    CHECK(WEXITSTATUS(status) == 0 && step > 1000);
    read_all(path, &result);
    check_same(&result, expected, step);
}

static void test(const struct scenario *scenario, const char *directory)
{
    pid_t child = fork();
    if (child == 0)
        fold_and_exit(scenario, directory);
    char path[TFD_SPOOL_PATH_MAX];
    snprintf(path, sizeof path, "%s/%d.spool", directory, (int)child);
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
    static struct result expected;
    read_all(path, &expected);
    CHECK(expected.info.events == scenario->events && !expected.info.damaged);
    CHECK(expected.info.io_ns == scenario->io_ns);
    if (!scenario->calls_before)
        check_varied_calls(&expected);
    step_through(child, path, &expected);
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++)
        test(&scenarios[i], argv[1]);
    return 0;
}
