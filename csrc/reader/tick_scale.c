#define _GNU_SOURCE
#include "reader/tick_scale.h"

#include "base/clock.h"

/* Shortest time between two samples, in ns: in less the error of reading two clocks in turn shows. */
#define GOOD_BASELINE_NS 10000000
#define LEAST_BASELINE_NS 100000
#define SAME_BOOT_TOLERANCE_NS 10000000000

static int64_t difference(int64_t later, int64_t earlier)
{
    return (int64_t)((uint64_t)later - (uint64_t)earlier);
}

/* Return the nanoseconds per tick between two samples, 0 if they are too close. */
static double slope(const struct tfd_clock_sample *a, const struct tfd_clock_sample *b, int64_t least_ns)
{
    int64_t ns = difference(b->monotonic_ns, a->monotonic_ns);
    if (!a->ticks || b->ticks <= a->ticks || ns < least_ns)
        return 0;
    double ratio = (double)ns / (double)(b->ticks - a->ticks);
    return ratio > 1e-3 && ratio < 1e4 ? ratio : 0;
}

/* Return a sample of now if this is the same machine and boot as that of `start`. */
static struct tfd_clock_sample live_sample(const struct tfd_clock_sample *start)
{
    tfd_clock_initialize();
    struct tfd_clock_sample now = tfd_clock_sample_now();
    int64_t drift = difference(difference(now.realtime_ns, start->realtime_ns),
                               difference(now.monotonic_ns, start->monotonic_ns));
    if (drift < -SAME_BOOT_TOLERANCE_NS || drift > SAME_BOOT_TOLERANCE_NS)
        now.ticks = 0;
    return now;
}

static double ns_per_tick(const struct tfd_spool_header *header)
{
    const struct tfd_clock_sample *first = &header->calibration, *start = &header->start,
                                  *stop = &header->stop;
    if (start->ticks == (uint64_t)start->monotonic_ns)
        return 1.0;
    double ratio = slope(start, stop, GOOD_BASELINE_NS);
    if (!ratio)
        ratio = slope(first, stop, GOOD_BASELINE_NS);
    if (!ratio)
        ratio = slope(first, start, GOOD_BASELINE_NS);
    if (ratio)
        return ratio;
    struct tfd_clock_sample now = live_sample(start);
    ratio = slope(start, &now, LEAST_BASELINE_NS);
    if (!ratio)
        ratio = slope(first, stop, LEAST_BASELINE_NS);
    if (!ratio)
        ratio = slope(first, start, LEAST_BASELINE_NS);
    return ratio ? ratio : 1.0;
}

struct tick_scale tfd_tick_scale(const struct tfd_spool_header *header)
{
    return (struct tick_scale){header->start.ticks, ns_per_tick(header)};
}

static int64_t scaled(double ns_per_tick, int64_t ticks)
{
    if (ns_per_tick == 1.0)
        return ticks;
    double ns = (double)ticks * ns_per_tick;
    if (ns >= 9e18 || ns <= -9e18)
        return ns > 0 ? INT64_MAX : INT64_MIN;
    return (int64_t)(ns < 0 ? ns - 0.5 : ns + 0.5);
}

int64_t tfd_ticks_to_ns(const struct tick_scale *scale, uint64_t ticks)
{
    return scaled(scale->ns_per_tick, (int64_t)(ticks - scale->start));
}

int64_t tfd_duration_to_ns(const struct tick_scale *scale, uint64_t ticks)
{
    return scaled(scale->ns_per_tick, (int64_t)ticks);
}
