#include "offline/aggregate/aggregate.h"

#include <stdbool.h>

/* Columns of a file's row of sums. */
enum { READS, JUMPS, MOVED, LASTED, MADE, JUMPED };

static bool lies_near(int64_t offset, int64_t end, int64_t length)
{
    int64_t apart = offset - end;
    return (apart < 0 ? -apart : apart) <= length;
}

/* Return true if a read follows one of the earlier reads of its file. */
static bool goes_on(const int64_t *ends, const int64_t *lengths, int64_t held, int64_t offset)
{
    for (int64_t i = 0; i < held; i++)
        if (lies_near(offset, ends[i], lengths[i]))
            return true;
    return false;
}

static void add_in_pieces(struct tfd_read_order *order, int32_t file, int64_t offset, int64_t length,
                          int64_t lasted_ns)
{
    int32_t slot = order->slot[file];
    if (slot < 0)
        return;
    int64_t *sums = order->sums + (size_t)file * TFD_READ_ORDER_SUMS;
    sums[MADE]++;
    if (offset < 0)
        return;
    int64_t *ends = order->ends + (size_t)slot * TFD_SIDE_BY_SIDE;
    int64_t *lengths = order->lengths + (size_t)slot * TFD_SIDE_BY_SIDE;
    int64_t held = sums[READS] < TFD_SIDE_BY_SIDE ? sums[READS] : TFD_SIDE_BY_SIDE;
    bool jumps = held > 0 && !goes_on(ends, lengths, held, offset);
    sums[JUMPS] += jumps;
    sums[JUMPED] += jumps ? lasted_ns : 0;
    ends[sums[READS] % TFD_SIDE_BY_SIDE] = offset + length;
    lengths[sums[READS] % TFD_SIDE_BY_SIDE] = length;
    sums[READS]++;
    sums[MOVED] += length;
    sums[LASTED] += lasted_ns;
}

void tfd_add_read_order(struct tfd_read_order *order, const struct tfd_input_calls *calls,
                        const int64_t *offset)
{
    for (size_t i = 0; i < calls->count; i++) {
        if (calls->kind[i] != TFD_READS)
            continue;
        int64_t lasted_ns = calls->end_ns[i] - calls->start_ns[i];
        add_in_pieces(order, calls->file[i], offset[i], calls->length[i], lasted_ns);
    }
}
