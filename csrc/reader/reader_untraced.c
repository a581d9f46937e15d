/* What the untraced calls of an open spool did over time. */
#include "reader/reader_state.h"
#include "tfdarshan.h"

static int64_t edge_ns(const struct tfd_reader *reader, uint64_t bin)
{
    const struct tfd_untraced *sums = reader->untraced;
    return tfd_ticks_to_ns(&reader->scale, sums->start + (bin << sums->shift));
}

size_t tfd_reader_untraced(struct tfd_reader *reader, uint64_t first, size_t rows,
                           struct tfd_untraced_batch *batch)
{
    size_t shown = 0;
    for (; reader->untraced && shown < rows && first + shown < TFD_UNTRACED_BINS; shown++) {
        const struct tfd_untraced_bin *bin = &reader->untraced->bins[first + shown];
        batch->start_ns[shown] = edge_ns(reader, first + shown);
        batch->end_ns[shown] = edge_ns(reader, first + shown + 1);
        batch->calls[shown] = (int64_t)bin->calls;
        batch->bytes_read[shown] = (int64_t)bin->moved[TFD_CLASS_READ];
        batch->bytes_written[shown] = (int64_t)bin->moved[TFD_CLASS_WRITE];
        batch->busy_ns[shown] = tfd_duration_to_ns(&reader->scale, bin->busy);
    }
    return shown;
}
