#include "offline/aggregate/aggregate.h"

enum { META = 2 };
enum { OCTAVE_BITS = 9, CELLS_OF_OCTAVE = 1 << OCTAVE_BITS };

static const int64_t UPPER_LIMITS[TFD_SIZES - 2] = {0,       100,     1 << 10,  10 << 10,  100 << 10,
                                                    1 << 20, 4 << 20, 10 << 20, 100 << 20, 1 << 30};

/* Return how far a time is into all bins together, in ns. */
static int64_t inside(const struct tfd_bins *bins, int64_t at_ns)
{
    int64_t whole = bins->bin_ns * (int64_t)bins->count, into = at_ns - bins->start_ns;
    return into < 0 ? 0 : into > whole ? whole : into;
}

/* Add bytes, in 2^-32 parts, to a row, which holds whole bytes and 2^-32 parts. */
static void add_bytes(int64_t *row, __int128 parts)
{
    row[TFD_BIN_BYTES] += (int64_t)(parts >> 32);
    row[TFD_BIN_BYTE_PARTS] += (int64_t)(parts & 0xffffffff);
}

/* Return the bytes, in 2^-32 parts, that a call had moved after `over_ns` of its `whole_ns`. */
static __int128 moved_until(int64_t bytes, int64_t over_ns, int64_t whole_ns)
{
    /* Two steps, since the product of a large and long call would overflow. */
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

static size_t size_of(int64_t bytes)
{
    size_t size = 0;
    while (size < TFD_SIZES - 2 && bytes > UPPER_LIMITS[size])
        size++;
    return size;
}

/* Return the cell of a duration: exact below 1024 ns, else to 1/512. */
static int32_t cell_of(int64_t duration_ns)
{
    if (duration_ns < CELLS_OF_OCTAVE)
        return duration_ns < 0 ? 0 : (int32_t)duration_ns;
    int shift = 63 - __builtin_clzll((uint64_t)duration_ns) - OCTAVE_BITS;
    return (int32_t)((shift + 1) * CELLS_OF_OCTAVE + (duration_ns >> shift) - CELLS_OF_OCTAVE);
}

void tfd_add_durations(const struct tfd_calls *calls, const uint8_t *operation, const int16_t *error,
                       int64_t *sums, int64_t *cells)
{
    for (size_t i = 0; i < calls->count; i++) {
        if (error[i])
            continue;
        int64_t duration = calls->end_ns[i] - calls->start_ns[i];
        uint8_t class = calls->io_class[i];
        size_t size = class == META ? TFD_SIZES - 1 : size_of(calls->length[i]);
        size_t group = (size_t)operation[i] * TFD_SIZES + size;
        int64_t *row = sums + group * TFD_DURATION_SUMS;
        row[0]++;
        row[1] += class == META ? 0 : calls->length[i];
        row[2] += duration;
        if (duration > row[3])
            row[3] = duration;
        cells[group * TFD_DURATION_CELLS + (size_t)cell_of(duration)]++;
    }
}
