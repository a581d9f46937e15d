/* Calls drawn at random, added up by the core and, nanosecond by nanosecond, by hand. */
#define _GNU_SOURCE
#include "check.h"
#include "offline/aggregate/aggregate.h"

enum { MOST_CALLS = 48, MOST_BINS = 16, GROUPS = 3, CLASSES = 3, OPERATIONS = 4 };
enum { READ, META = 2 };

static int64_t start_ns[MOST_CALLS], end_ns[MOST_CALLS], length[MOST_CALLS];
static uint8_t io_class[MOST_CALLS], operation[MOST_CALLS];
static int16_t error[MOST_CALLS];
static int32_t group[MOST_CALLS];
static struct tfd_calls calls = {
    .start_ns = start_ns, .end_ns = end_ns, .length = length, .io_class = io_class};
static struct tfd_bins bins;
static uint64_t state = 88172645463325252ull;

static int64_t below(int64_t limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (int64_t)(state % (uint64_t)limit);
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void draw_call(size_t i, int64_t after_ns)
{
    start_ns[i] = after_ns + below(12);
    end_ns[i] = start_ns[i] + (below(4) ? below(150) : 0);
    length[i] = below(5) ? below(1 << 20) : 0;
    io_class[i] = (uint8_t)below(CLASSES);
    operation[i] = (uint8_t)below(OPERATIONS);
    error[i] = below(4) ? 0 : ENOENT;
    group[i] = (int32_t)below(GROUPS);
}

static void draw(void)
{
    calls.count = (size_t)below(MOST_CALLS + 1);
    for (size_t i = 0; i < calls.count; i++)
        draw_call(i, i ? start_ns[i - 1] : 0);
    bins = (struct tfd_bins){
        .start_ns = below(200), .bin_ns = 1 + below(60), .count = 1 + (size_t)below(MOST_BINS)};
}

/* How many of a call's nanoseconds are in a bin, of the whole call: spreading does not cut. */
static int64_t inside_bin(size_t i, size_t bin)
{
    int64_t begin = bins.start_ns + (int64_t)bin * bins.bin_ns;
    return later(0, earlier(end_ns[i], begin + bins.bin_ns) - later(start_ns[i], begin));
}

static size_t bin_of_start(size_t i)
{
    int64_t into = (start_ns[i] - bins.start_ns) / bins.bin_ns;
    return start_ns[i] < bins.start_ns ? 0 : (size_t)earlier(into, (int64_t)bins.count - 1);
}

static double bytes_in_bin(size_t i, size_t bin)
{
    if (io_class[i] == META)
        return 0;
    if (end_ns[i] > start_ns[i])
        return (double)length[i] * (double)inside_bin(i, bin) / (double)(end_ns[i] - start_ns[i]);
    int64_t end_of_bins = bins.start_ns + bins.bin_ns * (int64_t)bins.count;
    bool within = start_ns[i] >= bins.start_ns && start_ns[i] <= end_of_bins;
    return within && bin_of_start(i) == bin ? (double)length[i] : 0;
}

static void check_bin(const int64_t *row, int32_t of_group, size_t bin)
{
    int64_t begun = 0, busy_ns = 0;
    double bytes = 0;
    for (size_t i = 0; i < calls.count; i++) {
        if (group[i] != of_group)
            continue;
        begun += bin_of_start(i) == bin;
        busy_ns += inside_bin(i, bin);
        bytes += bytes_in_bin(i, bin);
    }
    CHECK_EQUAL(row[TFD_BIN_CALLS], begun);
    CHECK_EQUAL(row[TFD_BIN_BUSY_NS], busy_ns);
    double found = (double)row[TFD_BIN_BYTES] + (double)row[TFD_BIN_BYTE_PARTS] / 4294967296.0;
    CHECK(found - bytes < 1e-3 && bytes - found < 1e-3);
}

static void check_bins(void)
{
    int64_t sums[GROUPS * MOST_BINS * TFD_BIN_SUMS] = {0};
    tfd_spread_calls(&calls, group, &bins, sums);
    for (int32_t g = 0; g < GROUPS; g++)
        for (size_t bin = 0; bin < bins.count; bin++)
            check_bin(sums + ((size_t)g * bins.count + bin) * TFD_BIN_SUMS, g, bin);
}

/* Darshan's buckets up to 1 MiB, which is longer than any call that is drawn. */
static size_t size_by_hand(int64_t bytes)
{
    return bytes == 0        ? 0
           : bytes <= 100    ? 1
           : bytes <= 1024   ? 2
           : bytes <= 10240  ? 3
           : bytes <= 102400 ? 4
                             : 5;
}

/* 512 to the octave from 512 ns. */
static int32_t cell_by_hand(int64_t duration_ns)
{
    int32_t octave = 0;
    while (duration_ns >> octave >= 1024)
        octave++;
    return octave * 512 + (int32_t)(duration_ns >> octave);
}

static size_t row_by_hand(size_t call)
{
    size_t size = io_class[call] == META ? TFD_SIZES - 1 : size_by_hand(length[call]);
    return operation[call] * (size_t)TFD_SIZES + size;
}

/* Cells grow with what is in them, and are 512 to the octave from 1024 ns. */
static void check_cell(int32_t cell, int64_t duration_ns)
{
    if (duration_ns < 1024) {
        CHECK_EQUAL(cell, duration_ns);
        return;
    }
    int32_t octave = cell / 512 - 1;
    int64_t width = 1ll << octave, begin = (cell % 512 + 512) * width;
    CHECK(begin <= duration_ns && duration_ns - begin < width);
}

static void check_durations(void)
{
    static int64_t cells[OPERATIONS * TFD_SIZES][TFD_DURATION_CELLS];
    int64_t sums[OPERATIONS * TFD_SIZES][TFD_DURATION_SUMS] = {{0}};
    int64_t expected[OPERATIONS * TFD_SIZES][TFD_DURATION_SUMS] = {{0}};
    tfd_add_durations(&calls, operation, error, sums[0], cells[0]);
    for (size_t i = 0; i < calls.count; i++) {
        if (error[i])
            continue;
        size_t row = row_by_hand(i);
        int32_t cell = cell_by_hand(end_ns[i] - start_ns[i]);
        check_cell(cell, end_ns[i] - start_ns[i]);
        cells[row][cell]--;
        expected[row][0]++;
        expected[row][1] += io_class[i] == META ? 0 : length[i];
        expected[row][2] += end_ns[i] - start_ns[i];
        expected[row][3] = later(expected[row][3], end_ns[i] - start_ns[i]);
    }
    CHECK(!memcmp(sums, expected, sizeof sums));
    for (size_t i = 0; i < calls.count; i++)
        CHECK(error[i] || !cells[row_by_hand(i)][cell_by_hand(end_ns[i] - start_ns[i])]);
}

/* The largest buckets and cells: one call of each size from 0 bytes to 2 GiB, of 1 ns to 292 years. */
static void check_extremes(void)
{
    static int64_t cells[TFD_SIZES][TFD_DURATION_CELLS];
    int64_t sums[TFD_SIZES][TFD_DURATION_SUMS] = {{0}};
    static const int64_t uppers[] = {0,       100,     1 << 10,  10 << 10,  100 << 10,
                                     1 << 20, 4 << 20, 10 << 20, 100 << 20, 1 << 30};
    for (size_t i = 0; i <= TFD_SIZES - 2; i++) {
        int64_t bytes = i < TFD_SIZES - 2 ? uppers[i] : (1ll << 30) + 1, start = 0,
                end = INT64_MAX >> (4 * i);
        uint8_t none = READ;
        int16_t fine = 0;
        int32_t cell = cell_by_hand(end);
        struct tfd_calls one = {
            .start_ns = &start, .end_ns = &end, .length = &bytes, .io_class = &none, .count = 1};
        tfd_add_durations(&one, &none, &fine, sums[0], cells[0]);
        CHECK_EQUAL(cells[i][cell], 1);
        CHECK_EQUAL(sums[i][0], 1);
        CHECK_EQUAL(sums[i][1], bytes);
        CHECK_EQUAL(sums[i][2], end);
        check_cell(cell, end);
    }
}

int main(int argc, char **argv)
{
    check_extremes();
    for (long left = check_repeats(argc, argv, 3000); left; left--) {
        draw();
        check_bins();
        check_durations();
    }
    return 0;
}
