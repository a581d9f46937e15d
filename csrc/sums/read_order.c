#include "tfdarshan.h"

#include <stdbool.h>

/* In a file's row of sums. */
enum { READS, JUMPS, MOVED, LASTED };
/* In a file's row of streams: where its last large read ended, and one more, 0 without one; and what of that read
 * was not counted yet. */
enum { NEXT, LEFT, STREAM };

static bool lies_near(int64_t offset, int64_t end, int64_t length)
{
    int64_t apart = offset - end;
    return (apart < 0 ? -apart : apart) <= length;
}

/* Says whether a read goes on after one of those before it in its file. */
static bool goes_on(const int64_t *ends, const int64_t *lengths, int64_t held, int64_t offset)
{
    for (int64_t i = 0; i < held; i++)
        if (lies_near(offset, ends[i], lengths[i]))
            return true;
    return false;
}

static void add_in_pieces(struct tfd_read_order *order, const struct tfd_reads *reads, size_t read)
{
    int32_t file = reads->file[read], slot = order->slot[file];
    if (slot < 0 || reads->offset[read] < 0)
        return;
    int64_t *sums = order->sums + (size_t)file * TFD_READ_ORDER_SUMS;
    int64_t *ends = order->ends + (size_t)slot * TFD_SIDE_BY_SIDE;
    int64_t *lengths = order->lengths + (size_t)slot * TFD_SIDE_BY_SIDE;
    int64_t held = sums[READS] < TFD_SIDE_BY_SIDE ? sums[READS] : TFD_SIDE_BY_SIDE;
    sums[JUMPS] += held > 0 && !goes_on(ends, lengths, held, reads->offset[read]);
    ends[sums[READS] % TFD_SIDE_BY_SIDE] = reads->offset[read] + reads->length[read];
    lengths[sums[READS] % TFD_SIDE_BY_SIDE] = reads->length[read];
    sums[READS]++;
    sums[MOVED] += reads->length[read];
    sums[LASTED] += reads->lasted_ns[read];
}

static void add_to_stream(struct tfd_read_order *order, const struct tfd_reads *reads, size_t read)
{
    int64_t offset = reads->offset[read], length = reads->length[read];
    if (length < order->part_bytes || offset < 0)
        return;
    int64_t *stream = order->streams + (size_t)reads->file[read] * STREAM;
    bool follows = stream[NEXT] == offset + 1;
    order->large_bytes += length;
    order->streamed_bytes += follows ? stream[LEFT] + length : 0;
    stream[NEXT] = offset + length + 1;
    stream[LEFT] = follows ? 0 : length;
}

void tfd_add_read_order(struct tfd_read_order *order, const struct tfd_reads *reads)
{
    for (size_t read = 0; read < reads->count; read++) {
        add_in_pieces(order, reads, read);
        add_to_stream(order, reads, read);
    }
}
