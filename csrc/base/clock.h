/* Ticks for the hot path: the time-stamp counter if the kernel itself trusts
 * it, else CLOCK_MONOTONIC in nanoseconds. */
#ifndef TFD_CLOCK_H
#define TFD_CLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/clock_sample.h"

extern _Atomic bool tfd_clock_uses_tsc;

void tfd_clock_initialize(void);
struct tfd_clock_sample tfd_clock_sample_now(void);

static inline int64_t tfd_clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline uint64_t tfd_ticks(void)
{
#if defined(__x86_64__)
    if (__builtin_expect(atomic_load_explicit(&tfd_clock_uses_tsc, memory_order_relaxed), 1))
        return __builtin_ia32_rdtsc();
#endif
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
