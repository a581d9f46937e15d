/* The order of random reads, block by block, against a comparison of each read with all earlier ones. */
#define _GNU_SOURCE
#include "check.h"
#include "offline/aggregate/aggregate.h"

enum { MOST_READS = 120, FILES = 3, LEFT_OUT = 1 };
enum { READS, JUMPS, MOVED, LASTED, MADE, JUMPED };

static int32_t file[MOST_READS];
static int64_t offset[MOST_READS], length[MOST_READS], start_ns[MOST_READS], lasted_ns[MOST_READS];
static uint8_t kind[MOST_READS];
static size_t count;
static uint64_t state = 88172645463325252ull;

static int64_t below(int64_t limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (int64_t)(state % (uint64_t)limit);
}

/* Most go on where one before them ended, or near it; of some the offset is not known. */
static int64_t drawn_offset(size_t read)
{
    size_t before = read ? (size_t)below((int64_t)read) : 0;
    if (!below(12))
        return -1;
    if (!read || !below(4) || offset[before] < 0)
        return below(4000);
    return offset[before] + length[before] + (below(2) ? 0 : below(30));
}

static void draw(void)
{
    count = (size_t)below(MOST_READS + 1);
    for (size_t read = 0; read < count; read++) {
        file[read] = (int32_t)below(FILES);
        offset[read] = drawn_offset(read);
        length[read] = below(6) ? 1 + below(100) : 0;
        lasted_ns[read] = below(1000);
        kind[read] = TFD_READS;
    }
}

/* Says whether a read begins no further from the end of one of the last reads of its file than that is long. */
static bool goes_on_by_hand(size_t read)
{
    int looked_at = 0;
    for (size_t before = read; before-- > 0 && looked_at < TFD_SIDE_BY_SIDE;) {
        if (file[before] != file[read] || offset[before] < 0)
            continue;
        looked_at++;
        if (llabs(offset[read] - offset[before] - length[before]) <= length[before])
            return true;
    }
    return !looked_at;
}

static void check_pieces(int64_t sums[FILES][TFD_READ_ORDER_SUMS])
{
    int64_t expected[FILES][TFD_READ_ORDER_SUMS] = {{0}};
    for (size_t read = 0; read < count; read++) {
        expected[file[read]][MADE] += file[read] != LEFT_OUT;
        if (file[read] == LEFT_OUT || offset[read] < 0)
            continue;
        expected[file[read]][READS]++;
        expected[file[read]][JUMPS] += !goes_on_by_hand(read);
        expected[file[read]][JUMPED] += goes_on_by_hand(read) ? 0 : lasted_ns[read];
        expected[file[read]][MOVED] += length[read];
        expected[file[read]][LASTED] += lasted_ns[read];
    }
    for (int i = 0; i < FILES; i++)
        for (int sum = 0; sum < TFD_READ_ORDER_SUMS; sum++)
            CHECK_EQUAL(sums[i][sum], expected[i][sum]);
}

static void check(void)
{
    static const int32_t slot[FILES] = {1, -1, 0};
    int64_t ends[2 * TFD_SIDE_BY_SIDE] = {0}, lengths[2 * TFD_SIDE_BY_SIDE] = {0};
    int64_t sums[FILES][TFD_READ_ORDER_SUMS] = {{0}};
    struct tfd_read_order order = {.slot = slot, .ends = ends, .lengths = lengths, .sums = sums[0]};
    for (size_t at = 0; at < count;) {
        size_t block = 1 + (size_t)below((int64_t)(count - at));
        struct tfd_input_calls reads = {.start_ns = start_ns + at,
                                        .end_ns = lasted_ns + at,
                                        .length = length + at,
                                        .file = file + at,
                                        .kind = kind + at,
                                        .count = block};
        tfd_add_read_order(&order, &reads, offset + at);
        at += block;
    }
    check_pieces(sums);
}

int main(int argc, char **argv)
{
    for (long i = check_repeats(argc, argv, 2000); i > 0; i--) {
        draw();
        check();
    }
    return 0;
}
