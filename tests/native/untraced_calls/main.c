/* What calls without a segment did over time: equal to sums that are made of the calls alone, for processes that end,
 * are killed at any instruction, or lack room. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "counters/thinning.h"
#include "spool/memory_cap.h"
#include "spool/untraced.h"
#include "spool_builder.h"

#define CALLS 20000u
#define TRACE_BYTES (256u << 10)
#define WHOLE_TRACE_BYTES (8u << 20)
#define THREADS 2u

static const char *directory;
static struct tfd_spool spool;
static struct tfd_event calls[CALLS];
static struct tfd_chunk *chunks[THREADS];
static long steps_per_read = 4999;

static uint64_t random_of(uint32_t call)
{
    uint64_t random = (call + 1) * 0x9e3779b97f4a7c15;
    return random ^ random >> 29;
}

static uint64_t duration_of(uint32_t call)
{
    uint64_t longest = call % 500 == 7 ? 5000000 : call % 20 == 3 ? 200000 : 3000;
    return call % 11 ? random_of(call) % longest : 0;
}

/* Each thread's calls follow each other, those of both overlap. */
static void make_calls(void)
{
    static const uint8_t operations[] = {TFD_OP_PREAD, TFD_OP_PWRITE, TFD_OP_PREAD, TFD_OP_FSTAT};
    uint64_t now[THREADS] = {BUILDER_START, BUILDER_START};
    for (uint32_t i = 0; i < CALLS; i++) {
        uint64_t start = now[i % THREADS] + (i % 500 == 7 ? 200000000 : 40);
        calls[i] = (struct tfd_event){.start = start, .end = start + duration_of(i), .file = 2};
        calls[i].operation = operations[i / 2 % 4];
        calls[i].length = (int64_t)(random_of(i) % (i % 7 ? 100000 : 1));
        now[i % THREADS] = calls[i].end;
    }
}

static void begin(uint32_t trace_bytes, bool kept)
{
    builder_create(&spool, directory, 16u << 20);
    spool.header->trace_limit_bytes = trace_bytes;
    tfd_memory_cap_find(&spool, directory, (int32_t)getpid());
    builder_mount(&spool, "/", 4096);
    CHECK(builder_file(&spool, "/data/a", 0) == calls[0].file);
    for (uint32_t i = 0; i < THREADS; i++)
        CHECK(builder_thread(&spool, (int32_t)i + 1) == i);
    CHECK(tfd_fold_prepare(&spool));
    for (uint32_t i = 0; i < THREADS && !kept; i++)
        chunks[i] = builder_chunk(&spool, i, 768, false);
}

/* As threads do whose chunks are full. */
static void fold_and_empty(void)
{
    CHECK(tfd_drain(&spool, UINT64_MAX) > 0);
    for (uint32_t i = 0; i < THREADS; i++) {
        struct tfd_thread *thread = tfd_thread_at(&spool, i);
        if (!thread->dropped_start)
            thread->dropped_start = BUILDER_START;
        thread->events_dropped += tfd_chunk_events(chunks[i]);
        atomic_store(&chunks[i]->fill, 0);
        atomic_store(&chunks[i]->folded, 0);
    }
}

static void record(uint32_t from, uint32_t until)
{
    for (uint32_t i = from; i < until; i++)
        if (!tfd_chunk_append(chunks[i % THREADS], &calls[i])) {
            fold_and_empty();
            CHECK(tfd_chunk_append(chunks[i % THREADS], &calls[i]));
        }
}

static void record_kept(uint32_t from, uint32_t until)
{
    for (uint32_t i = from; i < until; i++)
        builder_event(&spool, i % THREADS, calls[i]);
}

struct sums {
    int64_t calls[TFD_UNTRACED_BINS], moved[2][TFD_UNTRACED_BINS], busy[TFD_UNTRACED_BINS];
};

/* Looks at each edge of bins that a call crosses, from the call's own start. */
static void add_call(struct sums *sums, const struct tfd_event *call, uint64_t width)
{
    uint64_t start = call->start - BUILDER_START, end = call->end - BUILDER_START, duration = end - start;
    bool moves = call->operation != TFD_OP_FSTAT, is_write = call->operation == TFD_OP_PWRITE;
    int64_t moved = 0;
    sums->calls[start / width]++;
    for (uint64_t bin = start / width; moves && bin * width <= end && bin < TFD_UNTRACED_BINS; bin++) {
        uint64_t lasted = (bin + 1) * width < end ? (bin + 1) * width - start : duration;
        int64_t until = duration ? (int64_t)((__int128)call->length * lasted / duration) : call->length;
        sums->moved[is_write][bin] += until - moved;
        moved = until;
    }
    for (uint64_t at = start; at < end;) {
        uint64_t edge = (at / width + 1) * width, until = edge < end ? edge : end;
        sums->busy[at / width] += (int64_t)(until - at);
        at = until;
    }
}

static bool next_bin(struct tfd_reader *reader, uint64_t bin, int64_t row[6])
{
    struct tfd_untraced_batch batch = {&row[0], &row[1], &row[2], &row[3], &row[4], &row[5]};
    return tfd_reader_untraced(reader, bin, 1, &batch) == 1;
}

/* How many calls of a thread have no segment. */
static uint64_t untraced_of(struct tfd_reader *reader, uint32_t thread)
{
    struct tfd_thread_info info;
    CHECK(tfd_reader_thread(reader, thread, &info) == 0);
    return info.events_dropped;
}

/* The sums are those of the calls; returns the width of a bin in ns. */
static uint64_t check_sums(struct tfd_reader *reader, uint64_t untraced)
{
    static struct sums sums;
    const uint64_t made[THREADS] = {untraced_of(reader, 0), untraced_of(reader, 1)};
    CHECK(made[0] + made[1] == untraced);
    int64_t row[6];
    CHECK(next_bin(reader, 0, row) && row[0] == 0);
    uint64_t width = (uint64_t)row[1];
    memset(&sums, 0, sizeof sums);
    for (uint32_t i = 0; i < CALLS; i++)
        if (i / THREADS < made[i % THREADS])
            add_call(&sums, &calls[i], width);
    for (uint64_t bin = 0; bin < TFD_UNTRACED_BINS; bin++) {
        CHECK(next_bin(reader, bin, row));
        CHECK(row[0] == (int64_t)(bin * width) && row[1] == (int64_t)((bin + 1) * width));
        CHECK(row[2] == sums.calls[bin] && row[5] == sums.busy[bin]);
        CHECK(row[3] == sums.moved[0][bin] && row[4] == sums.moved[1][bin]);
    }
    CHECK(!next_bin(reader, TFD_UNTRACED_BINS, row));
    return width;
}

/* Each call is in the trace or, if it has the priority, a thinned one: never both. */
static void check_each_is_kept_once(struct tfd_reader *reader)
{
    struct tfd_thinned_info thinned;
    const uint64_t made[THREADS] = {untraced_of(reader, 0), untraced_of(reader, 1)};
    uint64_t expected = 0;
    tfd_reader_thinned_info(reader, &thinned);
    for (uint32_t i = 0; i < CALLS; i++)
        expected += i / THREADS < made[i % THREADS] &&
                    tfd_thinned_has((uint64_t)thinned.resolution_ns, &calls[i], i % THREADS);
    CHECK_EQUAL(thinned.calls, expected);
}

static void check_none(void)
{
    int64_t row[6];
    struct tfd_spool_info info;
    struct tfd_reader *reader = builder_open(directory);
    CHECK(tfd_reader_info(reader, &info) == 0 && info.events > 0 && !next_bin(reader, 0, row));
    tfd_reader_close(reader);
}

static void test_sums_are_those_of_the_calls(uint32_t trace_bytes)
{
    begin(trace_bytes, false);
    record(0, CALLS);
    tfd_fold_finish(&spool);
    builder_stop(&spool, 100000000000);
    struct tfd_reader *reader = builder_open(directory);
    CHECK(check_sums(reader, CALLS) > 1u << TFD_UNTRACED_FIRST_SHIFT);
    tfd_reader_close(reader);
}

static void test_calls_that_were_not_folded(void)
{
    begin(TRACE_BYTES, false);
    record(0, 300);
    builder_stop(&spool, 100000000000);
    struct tfd_reader *reader = builder_open(directory);
    CHECK(check_sums(reader, 300) >= 1u << TFD_UNTRACED_FIRST_SHIFT);
    tfd_reader_close(reader);
}

/* A call with a segment is not among them. */
static void test_kept_calls(void)
{
    begin(TRACE_BYTES, true);
    record_kept(0, 300);
    tfd_fold_finish(&spool);
    CHECK(tfd_drain(&spool, UINT64_MAX) >= 0);
    builder_stop(&spool, 100000000000);
    struct tfd_reader *reader = builder_open(directory);
    int64_t row[6];
    for (uint64_t bin = 0; next_bin(reader, bin, row); bin++)
        CHECK(!row[2] && !row[3] && !row[4] && !row[5]);
    tfd_reader_close(reader);
}

/* Where a thread gets no other chunk, its last kept one is used again. */
static void unkeep(void)
{
    for (uint32_t i = 0; i < THREADS; i++) {
        struct tfd_thread *thread = tfd_thread_at(&spool, i);
        tfd_thinning_unkeep(&spool, thread, tfd_at(&spool, thread->current_chunk));
    }
}

static void test_kept_calls_that_are_kept_no_longer(void)
{
    begin(TRACE_BYTES, true);
    record_kept(0, 200);
    CHECK(tfd_drain(&spool, UINT64_MAX) == 200);
    record_kept(200, 300);
    unkeep();
    builder_stop(&spool, 100000000000);
    struct tfd_reader *reader = builder_open(directory);
    check_sums(reader, 300);
    tfd_reader_close(reader);
}

/* The last version's arena began where the sums' offset is now. */
static void test_a_spool_of_the_last_version(void)
{
    begin(TRACE_BYTES, false);
    record(0, 1000);
    spool.header->version = TFD_THINNED_SPOOL_VERSION;
    builder_stop(&spool, 100000000000);
    check_none();
}

static void test_no_room(void)
{
    begin(TRACE_BYTES, false);
    atomic_store(&spool.header->untraced, TFD_UNTRACED_NO_ROOM);
    record(0, 1000);
    tfd_fold_finish(&spool);
    builder_stop(&spool, 100000000000);
    check_none();
}

static void test_damaged_sums(void)
{
    begin(TRACE_BYTES, false);
    record(0, 1000);
    struct tfd_untraced *sums = tfd_at(&spool, atomic_load(&spool.header->untraced));
    sums->shift = 64;
    builder_stop(&spool, 100000000000);
    check_none();
    begin(TRACE_BYTES, false);
    record(0, 1000);
    atomic_store(&spool.header->untraced, spool.capacity_bytes);
    builder_stop(&spool, 100000000000);
    check_none();
    begin(TRACE_BYTES, false);
    record(0, 1000);
    calls[1].end = UINT64_MAX;
    record(1, 2);
    builder_stop(&spool, 100000000000);
    tfd_reader_close(builder_open(directory));
    make_calls();
}

static void check_killed(pid_t child)
{
    char path[TFD_SPOOL_PATH_MAX];
    struct tfd_spool_info info;
    snprintf(path, sizeof path, "%s/%d.spool", directory, (int)child);
    struct tfd_reader *reader = tfd_reader_open(path);
    CHECK(reader && tfd_reader_info(reader, &info) == 0 && !info.damaged);
    check_sums(reader, info.events - info.segments);
    check_each_is_kept_once(reader);
    tfd_reader_close(reader);
}

static void drop_spool(pid_t child)
{
    char path[TFD_SPOOL_PATH_MAX];
    snprintf(path, sizeof path, "%s/%d.spool", directory, (int)child);
    CHECK(unlink(path) == 0);
}

static void fold_once_more(void)
{
    begin(TRACE_BYTES, false);
    record(0, 500);
    fold_and_empty();
    record(500, 520);
}

/* Bins become wider on the way. */
static void fold_rest(void)
{
    const struct tfd_untraced *sums = tfd_at(&spool, atomic_load(&spool.header->untraced));
    uint32_t shift = sums->shift;
    tfd_drain(&spool, UINT64_MAX);
    CHECK(sums->shift > shift);
}

static void keep_one_chunk(void)
{
    begin(TRACE_BYTES, true);
    record_kept(0, 40);
    CHECK(tfd_drain(&spool, UINT64_MAX) == 40);
}

/* The calls are more than a block has room for, so on the way some that are in it are thinned. */
static void keep_large_chunks(void)
{
    begin(TFD_LEAST_TRACE_BYTES, true);
    for (uint32_t i = 0; i < THREADS; i++)
        builder_chunk(&spool, i, 8192, true);
    record_kept(0, 800);
    CHECK(tfd_drain(&spool, UINT64_MAX) == 800);
}

static void unkeep_more_than_has_room(void)
{
    const struct tfd_thinned *thinned = tfd_at(&spool, atomic_load(&spool.header->thinned));
    unkeep();
    CHECK(atomic_load(&thinned->resolution) > 0);
}

/* Kills the process after each instruction of `act`, as far as a reader can tell. */
static void test_a_kill_at_each_step(void (*prepare)(void), void (*act)(void))
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        prepare();
        CHECK(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0);
        raise(SIGSTOP);
        act();
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

/* For tests/native/untraced_calls/test_untraced_calls.py: the same calls with and without segments. */
static void write_spools(void)
{
    static char whole[TFD_SPOOL_PATH_MAX], summed[TFD_SPOOL_PATH_MAX];
    snprintf(whole, sizeof whole, "%s/whole", directory);
    snprintf(summed, sizeof summed, "%s/summed", directory);
    CHECK(mkdir(whole, 0700) == 0 && mkdir(summed, 0700) == 0);
    directory = whole;
    begin(WHOLE_TRACE_BYTES, true);
    record_kept(0, CALLS);
    builder_stop(&spool, 100000000000);
    directory = summed;
    begin(TRACE_BYTES, false);
    record(0, CALLS);
    tfd_fold_finish(&spool);
    builder_stop(&spool, 100000000000);
}

int main(int argc, char **argv)
{
    CHECK(argc == 2 || argc == 3);
    directory = argv[1];
    make_calls();
    if (argc == 3 && !strcmp(argv[2], "spools")) {
        write_spools();
        return 0;
    }
    test_sums_are_those_of_the_calls(TRACE_BYTES);
    test_sums_are_those_of_the_calls(0);
    test_calls_that_were_not_folded();
    test_kept_calls();
    test_kept_calls_that_are_kept_no_longer();
    test_a_spool_of_the_last_version();
    test_no_room();
    test_damaged_sums();
    if (argc == 3) {
        steps_per_read = strtol(argv[2], NULL, 10);
        CHECK(steps_per_read > 0);
        test_a_kill_at_each_step(fold_once_more, fold_rest);
        test_a_kill_at_each_step(keep_one_chunk, unkeep);
        test_a_kill_at_each_step(keep_large_chunks, unkeep_more_than_has_room);
    }
    return 0;
}
