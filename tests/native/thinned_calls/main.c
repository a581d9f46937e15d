/* Calls that the trace has no room for: which of them are kept, that these stand for the time of all, and that a process
 * which is killed at any instant has kept each of them once. */
#define _GNU_SOURCE
#include <math.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#include "spool/memory_cap.h"
#include "spool/thinned.h"
#include "spool_builder.h"

#define CALLS 100000u
#define TRACE_BYTES (256u << 10)
#define THREAD 0u
#define KILLS 200

static const char *directory;
static struct tfd_spool spool;
static struct tfd_event calls[CALLS];
static struct tfd_chunk *chunk;
static uint32_t trace_bytes = TRACE_BYTES;
static long steps_per_read;

/* One block is the spare one. */
static uint32_t kept_at_most(void)
{
    return (trace_bytes / TFD_THINNED_BLOCK_BYTES - 1) * (uint32_t)TFD_THINNED_IN_BLOCK;
}

static uint64_t duration_of(uint32_t call)
{
    uint64_t random = (call + 1) * 0x9e3779b97f4a7c15;
    random ^= random >> 29;
    uint64_t shortest = call % 2000 == 7 ? 1000000 : call % 50 == 3 ? 20000 : 100;
    return call % 11 ? shortest + random % (10 * shortest) : 0;
}

static void make_calls(void)
{
    uint64_t now = BUILDER_START;
    for (uint32_t i = 0; i < CALLS; i++) {
        calls[i] = (struct tfd_event){.start = now, .end = now + duration_of(i), .length = i, .file = 2};
        calls[i].operation = TFD_OP_PREAD;
        now = calls[i].end + 50;
    }
}

static void begin(void)
{
    builder_create(&spool, directory, 8u << 20);
    spool.header->trace_limit_bytes = trace_bytes;
    tfd_memory_cap_find(&spool, directory, (int32_t)getpid());
    builder_mount(&spool, "/", 4096);
    CHECK(builder_file(&spool, "/data/a", 0) == calls[0].file);
    CHECK(builder_thread(&spool, 1) == THREAD && tfd_fold_prepare(&spool));
    chunk = builder_chunk(&spool, THREAD, 768, false);
}

/* As a thread does whose chunk is full. */
static void fold_and_empty(void)
{
    struct tfd_thread *thread = tfd_thread_at(&spool, THREAD);
    CHECK(tfd_drain(&spool, UINT64_MAX) > 0);
    if (!thread->dropped_start)
        thread->dropped_start = calls[0].start;
    thread->events_dropped += tfd_chunk_events(chunk);
    atomic_store(&chunk->fill, 0);
    atomic_store(&chunk->folded, 0);
}

static void record_one(const struct tfd_event *call)
{
    if (tfd_chunk_append(chunk, call))
        return;
    fold_and_empty();
    CHECK(tfd_chunk_append(chunk, call));
}

static void record(uint32_t from, uint32_t until)
{
    for (uint32_t i = from; i < until; i++)
        record_one(&calls[i]);
}

static bool next_thinned(struct tfd_reader *reader, uint64_t index, struct tfd_event *call)
{
    int64_t start_ns, end_ns, offset;
    int32_t tid;
    int16_t error;
    struct tfd_event_batch batch = {&start_ns, &end_ns,     &tid,    &call->operation, &call->flags,
                                    &error,    &call->file, &offset, &call->length};
    if (tfd_reader_thinned(reader, index, 1, &batch) != 1)
        return false;
    CHECK(tid == 1 && offset == 0 && error == 0);
    call->start = BUILDER_START + (uint64_t)start_ns;
    call->end = BUILDER_START + (uint64_t)end_ns;
    return true;
}

/* Of the first calls, `made` by now, those are kept that their resolution asks for, each once. */
static uint64_t check_kept(struct tfd_reader *reader, uint64_t made)
{
    struct tfd_thinned_info info;
    struct tfd_event kept;
    uint64_t found = 0;
    tfd_reader_thinned_info(reader, &info);
    for (uint64_t i = 0; i < made; i++) {
        if (!tfd_thinned_has((uint64_t)info.resolution_ns, &calls[i], THREAD))
            continue;
        CHECK(next_thinned(reader, found++, &kept));
        CHECK(kept.start == calls[i].start && kept.end == calls[i].end && kept.length == calls[i].length);
        CHECK(kept.file == calls[i].file && kept.operation == TFD_OP_PREAD);
    }
    CHECK(found == info.calls && !next_thinned(reader, found, &kept));
    return found;
}

static void test_all_are_kept_while_there_is_room(void)
{
    struct tfd_thinned_info info;
    begin();
    record(0, kept_at_most());
    tfd_fold_finish(&spool);
    builder_stop(&spool, 1000000);
    struct tfd_reader *reader = builder_open(directory);
    tfd_reader_thinned_info(reader, &info);
    CHECK(info.resolution_ns == 0 && check_kept(reader, kept_at_most()) == kept_at_most());
    tfd_reader_close(reader);
}

/* What is kept of the short calls stands for the time that all of them took. */
static void check_time(struct tfd_reader *reader, double resolution_ns)
{
    double short_ns = 0, kept_ns = 0;
    struct tfd_event kept;
    for (uint32_t i = 0; i < CALLS; i++) {
        double ns = (double)(calls[i].end - calls[i].start);
        short_ns += ns < resolution_ns ? (ns < 1 ? 1 : ns) : 0;
    }
    for (uint64_t i = 0; next_thinned(reader, i, &kept); i++)
        kept_ns += (double)(kept.end - kept.start) < resolution_ns ? resolution_ns : 0;
    double error_ns = sqrt(short_ns * resolution_ns); /* of independent draws: at most so much */
    CHECK(fabs(kept_ns - short_ns) < 4 * error_ns && error_ns < short_ns / 10);
}

static void test_long_calls_and_a_sample_of_short_ones_are_kept(void)
{
    struct tfd_thinned_info thinned;
    struct tfd_spool_info info;
    struct file_row row;
    begin();
    uint64_t used_before = 0;
    for (uint32_t part = 0; part < 10; part++) {
        record(part * CALLS / 10, (part + 1) * CALLS / 10);
        if (part == 1)
            used_before = atomic_load(&spool.header->used_bytes);
    }
    tfd_fold_finish(&spool);
    CHECK(atomic_load(&spool.header->used_bytes) == used_before);
    CHECK(atomic_load(&spool.header->trace_bytes) <= trace_bytes);
    builder_stop(&spool, 1000000000);
    struct tfd_reader *reader = builder_open(directory);
    CHECK(tfd_reader_info(reader, &info) == 0 && info.events == CALLS && info.segments == 0);
    CHECK(find_row(reader, calls[0].file, TFD_MODULE_POSIX, &row));
    CHECK(row.counters[TFD_COUNTER_POSIX_BYTES_READ] == (int64_t)CALLS * (CALLS - 1) / 2);
    tfd_reader_thinned_info(reader, &thinned);
    CHECK(thinned.resolution_ns > 0 && !(thinned.resolution_ns & (thinned.resolution_ns - 1)));
    uint64_t kept = check_kept(reader, CALLS);
    CHECK(kept <= kept_at_most() && kept >= kept_at_most() / 4);
    check_time(reader, (double)thinned.resolution_ns);
    tfd_reader_close(reader);
}

/* Of each file so many opens, each shorter than the resolution, among other calls. */
static void record_opens(uint32_t files, uint32_t opens)
{
    uint64_t now = BUILDER_START;
    for (uint32_t file = 0; file + 1 < files; file++)
        builder_file(&spool, "/data/b", 0);
    for (uint32_t i = 0; i < files * opens; i++) {
        struct tfd_event open = {.start = now, .end = now + 20, .file = 2 + i % files};
        struct tfd_event reads = {.start = now + 30, .end = now + 3000, .length = 1, .file = 2};
        open.operation = TFD_OP_OPEN;
        reads.operation = TFD_OP_PREAD;
        record_one(&open);
        record_one(&reads);
        now += 4000;
    }
    tfd_fold_finish(&spool);
    builder_stop(&spool, (int64_t)(now - BUILDER_START));
}

/* Return how many first opens are kept as such; each must be one, and be found once. */
static uint32_t check_first_opens(uint32_t files)
{
    struct tfd_thinned_info thinned;
    struct tfd_event kept;
    uint32_t found = 0;
    struct tfd_reader *reader = builder_open(directory);
    tfd_reader_thinned_info(reader, &thinned);
    CHECK(thinned.resolution_ns > 20 && thinned.calls <= kept_at_most());
    for (uint64_t i = 0; next_thinned(reader, i, &kept); i++) {
        if (!(kept.flags & TFD_FLAG_FIRST_OPEN))
            continue;
        CHECK(kept.operation == TFD_OP_OPEN);
        CHECK(kept.start == BUILDER_START + 4000ull * (kept.file - 2) && kept.file < 2 + files);
        found++;
    }
    tfd_reader_close(reader);
    return found;
}

static void test_the_first_open_of_each_file_is_kept(void)
{
    begin();
    record_opens(500, 40);
    CHECK_EQUAL(check_first_opens(500), 500);
}

/* More files than have room: first opens leave half of it to other calls. */
static void test_first_opens_of_very_many_files(void)
{
    begin();
    record_opens(6000, 3);
    uint32_t found = check_first_opens(6000);
    CHECK(found >= 500 && found <= kept_at_most() / TFD_THINNED_IN_BLOCK * TFD_THINNED_FIRST_OPENS);
}

static void check_killed(pid_t child)
{
    char path[TFD_SPOOL_PATH_MAX];
    struct tfd_spool_info info;
    snprintf(path, sizeof path, "%s/%d.spool", directory, (int)child);
    struct tfd_reader *reader = tfd_reader_open(path);
    CHECK(reader && tfd_reader_info(reader, &info) == 0 && !info.damaged);
    check_kept(reader, info.events);
    tfd_reader_close(reader);
}

static void drop_spool(pid_t child)
{
    char path[TFD_SPOOL_PATH_MAX];
    snprintf(path, sizeof path, "%s/%d.spool", directory, (int)child);
    CHECK(unlink(path) == 0);
}

static void test_a_kill_at_any_time(void)
{
    int ready[2], status;
    char byte;
    srand(1);
    for (int i = 0; i < KILLS; i++) {
        CHECK(pipe(ready) == 0);
        pid_t child = fork();
        if (child == 0) {
            begin();
            CHECK(write(ready[1], "", 1) == 1);
            record(0, CALLS);
            pause();
        }
        CHECK(read(ready[0], &byte, 1) == 1);
        usleep((useconds_t)(rand() % 30000));
        CHECK(kill(child, SIGKILL) == 0 && waitpid(child, &status, 0) == child);
        check_killed(child);
        drop_spool(child);
        close(ready[0]);
        close(ready[1]);
    }
}

/* Through the fold that raises the resolution and thins a block: the first of several, or the one that is filled. */
static void test_a_kill_at_each_step(uint32_t trace_limit_bytes)
{
    int status;
    trace_bytes = trace_limit_bytes;
    pid_t child = fork();
    if (child == 0) {
        begin();
        record(0, kept_at_most() - 20);
        fold_and_empty();
        record(kept_at_most() - 20, kept_at_most() + 20);
        CHECK(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0);
        raise(SIGSTOP);
        tfd_drain(&spool, UINT64_MAX);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFSTOPPED(status));
    for (long step = 0;; step++) {
        if (step % steps_per_read == 0)
            check_killed(child);
        CHECK(ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) == 0 && waitpid(child, &status, 0) == child);
        if (WIFEXITED(status))
            break;
    }
    CHECK(WEXITSTATUS(status) == 0);
    check_killed(child);
    drop_spool(child);
}

/* A reader does not follow blocks in a circle, and shows no call of what is no thread. */
static void test_damaged_blocks(void)
{
    begin();
    record(0, CALLS / 2);
    tfd_fold_finish(&spool);
    struct tfd_thinned *thinned = tfd_at(&spool, atomic_load(&spool.header->thinned));
    struct tfd_thinned_block *block = tfd_at(&spool, thinned->first);
    block->next = thinned->first;
    atomic_store(&block->count, UINT32_MAX);
    block->calls[0].thread = UINT32_MAX;
    block->calls[1].event.operation = UINT8_MAX;
    builder_stop(&spool, 1000000000);
    struct tfd_reader *reader = builder_open(directory);
    struct tfd_event kept;
    for (uint64_t i = 0; next_thinned(reader, i, &kept); i++)
        CHECK(kept.operation == TFD_OP_PREAD);
    tfd_reader_close(reader);
}

/* The last version had no thinned calls: its arena began where their offset is now. */
static void test_a_spool_of_the_last_version(void)
{
    struct tfd_thinned_info thinned;
    struct tfd_spool_info info;
    begin();
    record(0, 500);
    tfd_fold_finish(&spool);
    spool.header->version = TFD_OLDEST_SPOOL_VERSION;
    builder_stop(&spool, 1000000);
    struct tfd_reader *reader = builder_open(directory);
    tfd_reader_thinned_info(reader, &thinned);
    CHECK(thinned.calls == 0 && thinned.resolution_ns == 0);
    CHECK(tfd_reader_info(reader, &info) == 0 && info.events == 500 && !info.damaged);
    tfd_reader_close(reader);
}

int main(int argc, char **argv)
{
    CHECK(argc == 2 || argc == 3);
    directory = argv[1];
    make_calls();
    test_all_are_kept_while_there_is_room();
    test_long_calls_and_a_sample_of_short_ones_are_kept();
    test_the_first_open_of_each_file_is_kept();
    test_first_opens_of_very_many_files();
    test_a_kill_at_any_time();
    test_damaged_blocks();
    test_a_spool_of_the_last_version();
    if (argc == 3) { /* A minute. */
        steps_per_read = strtol(argv[2], NULL, 10);
        CHECK(steps_per_read > 0);
        test_a_kill_at_each_step(TFD_LEAST_TRACE_BYTES);
        test_a_kill_at_each_step(TRACE_BYTES);
    }
    return 0;
}
