#include "tfdarshan.h"

enum { READ, WRITE, META, CLASSES };
/* In a group's numbers: calls, bytes, durations and unions of each class, and the union of all. */
enum { CALLS, MOVED = CLASSES, LASTED = 2 * CLASSES, UNITED = 3 * CLASSES, UNION = 4 * CLASSES };
enum { OCTAVE_BITS = 9, CELLS_OF_OCTAVE = 1 << OCTAVE_BITS };

static const int64_t UPPER_LIMITS[TFD_SIZES - 2] = {0,       100,     1 << 10,  10 << 10,  100 << 10,
                                                    1 << 20, 4 << 20, 10 << 20, 100 << 20, 1 << 30};

/* Adds what of an interval is after all that was added before, and says how far that reaches now. */
static void unite(int64_t *sum, int64_t *reached, int64_t start, int64_t end)
{
    if (end <= *reached)
        return;
    *sum += end - (start > *reached ? start : *reached);
    *reached = end;
}

static int64_t cut_start(const struct tfd_calls *calls, size_t call)
{
    return calls->start_ns[call] > calls->from_ns ? calls->start_ns[call] : calls->from_ns;
}

static int64_t cut_end(const struct tfd_calls *calls, size_t call)
{
    return calls->end_ns[call] < calls->until_ns ? calls->end_ns[call] : calls->until_ns;
}

void tfd_add_to_groups(const struct tfd_calls *calls, size_t guests, const int32_t *group, int64_t *sums,
                       int64_t *reached)
{
    for (size_t i = 0; i < calls->count; i++) {
        int64_t *of_group = sums + (size_t)group[i] * TFD_GROUP_SUMS;
        int64_t *reach = reached + (size_t)group[i] * (CLASSES + 1);
        int64_t start = cut_start(calls, i), end = cut_end(calls, i);
        uint8_t class = calls->io_class[i];
        of_group[LASTED + class] += end - start;
        unite(&of_group[UNITED + class], &reach[class], start, end);
        unite(&of_group[UNION], &reach[CLASSES], start, end);
        if (i < guests)
            continue;
        of_group[CALLS + class]++;
        of_group[MOVED + class] += calls->length[i];
    }
}

/* How far into all bins together a moment is. */
static int64_t inside(const struct tfd_bins *bins, int64_t at_ns)
{
    int64_t whole = bins->bin_ns * (int64_t)bins->count, into = at_ns - bins->start_ns;
    return into < 0 ? 0 : into > whole ? whole : into;
}

/* A row of `row`, in which bytes are whole ones and parts of 2 to the 32nd. */
static void add_bytes(int64_t *row, __int128 parts)
{
    row[TFD_BIN_BYTES] += (int64_t)(parts >> 32);
    row[TFD_BIN_BYTE_PARTS] += (int64_t)(parts & 0xffffffff);
}

/* Bytes, in parts of 2 to the 32nd, that a call had moved when so much of its time was over. */
static __int128 moved_until(int64_t bytes, int64_t over_ns, int64_t whole_ns)
{
    /* Two steps: a large call that lasts long would overflow in one. */
    __int128 product = (__int128)bytes * over_ns;
    return ((product / whole_ns) << 32) + (((product % whole_ns) << 32) / whole_ns);
}

static void spread_over(const struct tfd_bins *bins, int64_t *rows, int64_t bytes, int64_t start, int64_t end)
{
    int64_t first = inside(bins, start), last = inside(bins, end), whole_ns = end - start;
    if (first == last)
        return;
    __int128 before = moved_until(bytes, first + bins->start_ns - start, whole_ns);
    for (int64_t at = first; at < last;) {
        int64_t bin = at / bins->bin_ns, until = (bin + 1) * bins->bin_ns;
        until = until < last ? until : last;
        __int128 moved = moved_until(bytes, until + bins->start_ns - start, whole_ns);
        int64_t *row = rows + bin * TFD_BIN_SUMS;
        add_bytes(row, moved - before);
        row[TFD_BIN_BUSY_NS] += until - at;
        before = moved;
        at = until;
    }
}

void tfd_spread_calls(const struct tfd_calls *calls, const int32_t *group, const struct tfd_bins *bins,
                      int64_t *sums)
{
    int64_t whole_ns = bins->bin_ns * (int64_t)bins->count;
    for (size_t i = 0; i < calls->count; i++) {
        int64_t *rows = sums + (size_t)group[i] * bins->count * TFD_BIN_SUMS;
        int64_t start = calls->start_ns[i], end = calls->end_ns[i], at = inside(bins, start);
        int64_t bytes = calls->io_class[i] == META ? 0 : calls->length[i];
        int64_t bin = (at < whole_ns ? at : whole_ns - 1) / bins->bin_ns, *row = rows + bin * TFD_BIN_SUMS;
        row[TFD_BIN_CALLS]++;
        if (start >= bins->start_ns && end <= bins->start_ns + (bin + 1) * bins->bin_ns) {
            row[TFD_BIN_BYTES] += bytes;
            row[TFD_BIN_BUSY_NS] += end - start;
        } else if (end > start) {
            spread_over(bins, rows, bytes, start, end);
        }
    }
}

static void reach_depth(int64_t *most, int64_t depth)
{
    if (depth > *most)
        *most = depth;
}

/* The ends of the calls that are running: no end is before that of its parent, half as far from the front. */
struct running {
    int64_t *end_ns;
    size_t count;
};

static void begin_call(struct running *running, int64_t end)
{
    size_t at = running->count++;
    for (; at && running->end_ns[(at - 1) / 2] > end; at = (at - 1) / 2)
        running->end_ns[at] = running->end_ns[(at - 1) / 2];
    running->end_ns[at] = end;
}

static void end_first(struct running *running)
{
    int64_t last = running->end_ns[--running->count];
    size_t at = 0;
    for (size_t child = 1; child < running->count; child = 2 * at + 1) {
        if (child + 1 < running->count && running->end_ns[child + 1] < running->end_ns[child])
            child++;
        if (running->end_ns[child] >= last)
            break;
        running->end_ns[at] = running->end_ns[child];
        at = child;
    }
    running->end_ns[at] = last;
}

static void end_until(struct running *running, int64_t at_ns)
{
    while (running->count && running->end_ns[0] <= at_ns)
        end_first(running);
}

void tfd_find_deepest(const struct tfd_calls *calls, const struct tfd_bins *bins, int64_t *room,
                      int64_t *most)
{
    struct running running = {.end_ns = room};
    size_t next = 0;
    /* What begins before the first part and after the last one counts in none. */
    for (size_t bin = 0; bin <= bins->count; bin++) {
        int64_t edge = bins->start_ns + (int64_t)bin * bins->bin_ns;
        for (; next < calls->count && cut_start(calls, next) < edge; next++) {
            int64_t start = cut_start(calls, next), end = cut_end(calls, next);
            end_until(&running, start);
            begin_call(&running, end > start ? end : start + 1);
            if (bin)
                reach_depth(&most[bin - 1], (int64_t)running.count);
        }
        end_until(&running, edge);
        if (bin < bins->count && edge >= calls->from_ns && edge < calls->until_ns)
            reach_depth(&most[bin], (int64_t)running.count);
    }
}

static size_t size_of(int64_t bytes)
{
    size_t size = 0;
    while (size < TFD_SIZES - 2 && bytes > UPPER_LIMITS[size])
        size++;
    return size;
}

/* Exact below 1024 ns, else to one part in 512. */
static int32_t cell_of(int64_t duration_ns)
{
    if (duration_ns < CELLS_OF_OCTAVE)
        return duration_ns < 0 ? 0 : (int32_t)duration_ns;
    int shift = 63 - __builtin_clzll((uint64_t)duration_ns) - OCTAVE_BITS;
    return (int32_t)((shift + 1) * CELLS_OF_OCTAVE + (duration_ns >> shift) - CELLS_OF_OCTAVE);
}

void tfd_add_durations(const struct tfd_calls *calls, const uint8_t *operation, const int16_t *error,
                       int64_t *sums, int64_t *cells, int32_t *cell_of_call)
{
    for (size_t i = 0; i < calls->count; i++) {
        if (cell_of_call)
            cell_of_call[i] = -1;
        if (error[i])
            continue;
        int64_t duration = calls->end_ns[i] - calls->start_ns[i];
        uint8_t class = calls->io_class[i];
        size_t size = class == META ? TFD_SIZES - 1 : size_of(calls->length[i]);
        size_t group = (size_t)operation[i] * TFD_SIZES + size;
        int32_t cell = cell_of(duration);
        if (cell_of_call)
            cell_of_call[i] = (int32_t)group * TFD_DURATION_CELLS + cell;
        if (!sums)
            continue;
        int64_t *row = sums + group * TFD_DURATION_SUMS;
        row[0]++;
        row[1] += class == META ? 0 : calls->length[i];
        row[2] += duration;
        reach_depth(&row[3], duration);
        cells[group * TFD_DURATION_CELLS + (size_t)cell]++;
    }
}
