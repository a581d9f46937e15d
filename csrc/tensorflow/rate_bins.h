/* Read and write rates and operations in flight over time, each call's bytes spread evenly over its duration. */
#ifndef TFD_RATE_BINS_H
#define TFD_RATE_BINS_H

#include <stdint.h>

#define TFD_RATE_BINS 1000
#define TFD_RATE_BIN_MIN_NS 1000000

enum tfd_rate { TFD_RATE_READ, TFD_RATE_WRITE, TFD_RATE_IN_FLIGHT, TFD_RATE_COUNT };

struct tfd_rate_bins {
    int64_t start_ns, bin_ns;
    uint32_t count;
    double sums[TFD_RATE_COUNT][TFD_RATE_BINS]; /* bytes, bytes, ns */
};

void tfd_rates_begin(struct tfd_rate_bins *bins, int64_t start_ns, int64_t duration_ns);
/* Add a call of `bytes` bytes; its parts outside the bins are left out. */
void tfd_rates_add(struct tfd_rate_bins *bins, enum tfd_rate rate, int64_t start_ns, int64_t duration_ns,
                   double amount);
/* Return MB/s, or operations in flight. */
double tfd_rate_at(const struct tfd_rate_bins *bins, enum tfd_rate rate, uint32_t bin);

#endif
