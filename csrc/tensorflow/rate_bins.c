#include "tensorflow/rate_bins.h"

#include <string.h>

void tfd_rates_begin(struct tfd_rate_bins *bins, int64_t start_ns, int64_t duration_ns)
{
    memset(bins, 0, sizeof *bins);
    if (duration_ns < 1)
        duration_ns = 1;
    bins->start_ns = start_ns;
    bins->bin_ns = (duration_ns + TFD_RATE_BINS - 1) / TFD_RATE_BINS;
    if (bins->bin_ns < TFD_RATE_BIN_MIN_NS)
        bins->bin_ns = TFD_RATE_BIN_MIN_NS;
    bins->count = (uint32_t)((duration_ns + bins->bin_ns - 1) / bins->bin_ns);
}

void tfd_rates_add(struct tfd_rate_bins *bins, enum tfd_rate rate, int64_t start_ns, int64_t duration_ns,
                   double amount)
{
    int64_t begin = start_ns - bins->start_ns, end = begin + (duration_ns > 0 ? duration_ns : 1);
    int64_t limit = bins->bin_ns * bins->count;
    double per_ns = amount / (double)(end - begin);
    if (begin < 0)
        begin = 0;
    if (end > limit)
        end = limit;
    while (begin < end) {
        int64_t bin = begin / bins->bin_ns, next = (bin + 1) * bins->bin_ns;
        if (next > end)
            next = end;
        bins->sums[rate][bin] += per_ns * (double)(next - begin);
        begin = next;
    }
}

double tfd_rate_at(const struct tfd_rate_bins *bins, enum tfd_rate rate, uint32_t bin)
{
    double per_ns = bins->sums[rate][bin] / (double)bins->bin_ns;
    return rate == TFD_RATE_IN_FLIGHT ? per_ns : per_ns * 1000; /* B/ns are GB/s */
}
