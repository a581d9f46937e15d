/* One instant, taken by clock.c and stored in a spool. */
#ifndef TFD_CLOCK_SAMPLE_H
#define TFD_CLOCK_SAMPLE_H

#include <stdint.h>

/* The same instant on three clocks. Two samples turn ticks into nanoseconds. */
struct tfd_clock_sample {
    uint64_t ticks;
    int64_t monotonic_ns;
    int64_t realtime_ns;
};

#endif
