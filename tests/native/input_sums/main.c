/* Random calls on input are added up block by block, and compared with sums call by call or nanosecond by
 * nanosecond. */
#define _GNU_SOURCE
#include "check.h"
#include "offline/aggregate/aggregate.h"

enum { MOST_CALLS = 90, FILES = 4, THREADS = 3, LOOP = 1, SPAN_NS = 900, STRETCHES = 5, OPERATIONS = 12 };
enum { OPENS, READS, READ_BYTES, READ_NS, OTHER_NS, OPEN_NS, STAT_NS, FIRST_NS, LAST_NS };

static int64_t start_ns[MOST_CALLS], end_ns[MOST_CALLS], length[MOST_CALLS];
static int32_t file[MOST_CALLS], thread[MOST_CALLS];
static uint8_t kind[MOST_CALLS];
static size_t count;
static int64_t stretch_start[STRETCHES], stretch_end[STRETCHES], before_ns[STRETCHES];
static uint64_t state = 88172645463325252ull;

static int64_t below(int64_t limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (int64_t)(state % (uint64_t)limit);
}

static void draw(void)
{
    int64_t at = 0;
    count = (size_t)below(MOST_CALLS + 1);
    for (size_t i = 0; i < count; i++) {
        at += below(8);
        start_ns[i] = at;
        end_ns[i] = at + below(60);
        kind[i] = below(2) ? TFD_READS : (uint8_t)below(TFD_SEEKS + 1);
        length[i] = kind[i] == TFD_READS ? below(50) : 0;
        file[i] = (int32_t)below(FILES);
        thread[i] = (int32_t)below(THREADS);
    }
    at = before_ns[0] = 0;
    for (int i = 0; i < STRETCHES; i++) {
        stretch_start[i] = at + 1 + below(60);
        at = stretch_end[i] = stretch_start[i] + 1 + below(80);
        if (i + 1 < STRETCHES)
            before_ns[i + 1] = before_ns[i] + stretch_end[i] - stretch_start[i];
    }
}

static struct tfd_input_calls next_block(size_t at)
{
    return (struct tfd_input_calls){.start_ns = start_ns + at,
                                    .end_ns = end_ns + at,
                                    .length = length + at,
                                    .file = file + at,
                                    .thread = thread + at,
                                    .kind = kind + at,
                                    .count = 1 + (size_t)below((int64_t)(count - at))};
}

static bool is_in_a_stretch(int64_t at)
{
    for (int i = 0; i < STRETCHES; i++)
        if (at >= stretch_start[i] && at < stretch_end[i])
            return true;
    return false;
}

/* Nanosecond by nanosecond: when a call runs, and how long each does in a stretch. */
static void check_moments(const struct tfd_input_times *sums)
{
    static uint8_t running[SPAN_NS + 1];
    int64_t in_waits = 0, by_loop = 0, united = 0;
    memset(running, 0, sizeof running);
    for (size_t i = 0; i < count; i++)
        for (int64_t ns = start_ns[i]; ns < end_ns[i]; ns++) {
            running[ns] = 1;
            in_waits += is_in_a_stretch(ns);
            by_loop += is_in_a_stretch(ns) && thread[i] == LOOP;
        }
    for (int ns = 0; ns <= SPAN_NS; ns++)
        united += running[ns];
    CHECK_EQUAL(sums->in_waits_ns, in_waits);
    CHECK_EQUAL(sums->loop_in_waits_ns, by_loop);
    CHECK_EQUAL(sums->in_rests_ns, 0);
    CHECK_EQUAL(sums->union_ns, united);
}

static void check_calls(int64_t found[TFD_CALL_KINDS][3][TFD_KIND_SUMS], int64_t by_thread[THREADS][3])
{
    int64_t kinds[TFD_CALL_KINDS][3][TFD_KIND_SUMS] = {{{0}}}, busy[THREADS] = {0};
    for (size_t i = 0; i < count; i++) {
        int who = thread[i] != LOOP ? 0 : is_in_a_stretch(start_ns[i]) ? 2 : 1;
        kinds[kind[i]][who][0]++;
        kinds[kind[i]][who][1] += end_ns[i] - start_ns[i];
        kinds[kind[i]][who][2] += length[i];
        busy[thread[i]] += end_ns[i] - start_ns[i];
    }
    CHECK(!memcmp(found, kinds, sizeof kinds));
    for (int i = 0; i < THREADS; i++)
        CHECK_EQUAL(by_thread[i][0], busy[i]);
}

static void check_times(void)
{
    int64_t by_kind[TFD_CALL_KINDS][3][TFD_KIND_SUMS] = {{{0}}}, by_thread[THREADS][3];
    struct tfd_stretches waits = {
        .start_ns = stretch_start, .end_ns = stretch_end, .before_ns = before_ns, .count = STRETCHES};
    struct tfd_input_times sums = {.by_kind = by_kind[0][0],
                                   .by_thread = by_thread[0],
                                   .waits = waits,
                                   .waiting = waits,
                                   .reached_ns = INT64_MIN};
    for (int i = 0; i < THREADS; i++)
        memcpy(by_thread[i], (int64_t[]){0, INT64_MAX, 0}, sizeof by_thread[i]);
    for (size_t at = 0; at < count;) {
        struct tfd_input_calls block = next_block(at);
        tfd_add_input_times(&sums, &block, LOOP);
        at += block.count;
    }
    check_calls(by_kind, by_thread);
    check_moments(&sums);
}

static void add_by_hand(int64_t *row, size_t i)
{
    int64_t lasted = end_ns[i] - start_ns[i];
    if (kind[i] == TFD_READS) {
        row[FIRST_NS] = row[READS] && row[FIRST_NS] < start_ns[i] ? row[FIRST_NS] : start_ns[i];
        row[LAST_NS] = row[LAST_NS] > end_ns[i] ? row[LAST_NS] : end_ns[i];
        row[READS]++;
        row[READ_BYTES] += length[i];
        row[READ_NS] += lasted;
        return;
    }
    row[OTHER_NS] += lasted;
    row[OPENS] += kind[i] == TFD_OPENS;
    row[OPEN_NS] += kind[i] <= TFD_CLOSES ? lasted : 0;
    row[STAT_NS] += kind[i] == TFD_STATS ? lasted : 0;
}

static void check_costs(void)
{
    int64_t costs[FILES][TFD_FILE_COSTS] = {{0}}, expected[FILES][TFD_FILE_COSTS] = {{0}};
    for (size_t at = 0; at < count;) {
        struct tfd_input_calls block = next_block(at);
        tfd_add_file_costs(&block, costs[0]);
        at += block.count;
    }
    for (size_t i = 0; i < count; i++)
        add_by_hand(expected[file[i]], i);
    CHECK(!memcmp(costs, expected, sizeof costs));
}

static void check_depths(void)
{
    static double lasted[TFD_DEEPEST], bytes[TFD_DEEPEST];
    int64_t ends[MOST_CALLS], expected[MOST_CALLS + 1] = {0}, last = 0;
    double rates[MOST_CALLS], moved = 0, told = 0;
    memset(lasted, 0, sizeof lasted);
    memset(bytes, 0, sizeof bytes);
    struct tfd_depths sums = {.lasted_ns = lasted,
                              .bytes = bytes,
                              .end_ns = ends,
                              .rate = rates,
                              .now_ns = count ? start_ns[0] : 0};
    for (size_t at = 0; at < count;) {
        struct tfd_input_calls block = next_block(at);
        tfd_add_depths(&sums, &block);
        at += block.count;
    }
    tfd_end_depths(&sums);
    for (size_t i = 0; i < count; i++) {
        last = end_ns[i] > last ? end_ns[i] : last;
        moved += end_ns[i] > start_ns[i] ? (double)length[i] : 0;
    }
    for (int64_t ns = count ? start_ns[0] : 0; ns < last; ns++) {
        int depth = 0;
        for (size_t i = 0; i < count; i++)
            depth += start_ns[i] <= ns && ns < end_ns[i];
        expected[depth]++;
    }
    for (size_t depth = 0; depth <= MOST_CALLS; depth++) {
        CHECK_EQUAL(lasted[depth], expected[depth]);
        told += bytes[depth];
    }
    CHECK(told > moved - 1e-6 && told < moved + 1e-6);
}

/* Which input calls are, and which of them took longer than memory, each by its own numbers. */
static void check_choices(void)
{
    uint8_t kind_of[OPERATIONS], operation[MOST_CALLS], kinds[MOST_CALLS];
    static const uint8_t is_input[FILES] = {1, 0, 1, 1};
    int16_t error[MOST_CALLS];
    int32_t places[MOST_CALLS];
    size_t next = 0;
    for (int i = 0; i < OPERATIONS; i++)
        kind_of[i] = (uint8_t)below(TFD_CALL_KINDS);
    for (size_t i = 0; i < count; i++) {
        operation[i] = (uint8_t)below(OPERATIONS);
        error[i] = below(3) ? 0 : EIO;
    }
    size_t found = tfd_choose_input(kind_of, is_input, operation, file, length, error, count, places, kinds);
    for (size_t i = 0; i < count; i++) {
        int is = kind_of[operation[i]];
        if (!is_input[file[i]] || is == TFD_WRITES || is == TFD_SYNCS)
            continue;
        CHECK_EQUAL(places[next], i);
        CHECK_EQUAL(kinds[next++], is == TFD_READS && !length[i] && !error[i] ? TFD_EMPTY_READS : is);
    }
    CHECK_EQUAL(found, next);
    struct tfd_input_calls all = {start_ns, end_ns, length, file, thread, kind, count};
    found = tfd_choose_stored(&all, 20e-9, 0.5e-9, places);
    next = 0;
    for (size_t i = 0; i < count; i++)
        if (2 * (end_ns[i] - start_ns[i]) > 40 + length[i])
            CHECK_EQUAL(places[next++], i);
    CHECK_EQUAL(found, next);
}

int main(int argc, char **argv)
{
    for (long i = check_repeats(argc, argv, 2000); i > 0; i--) {
        draw();
        check_times();
        check_costs();
        check_depths();
        check_choices();
    }
    return 0;
}
