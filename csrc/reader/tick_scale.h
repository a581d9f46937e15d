/* Turns ticks into nanoseconds since the session's start. */
#ifndef TFD_TICK_SCALE_H
#define TFD_TICK_SCALE_H

#include "spool/spool.h"

struct tick_scale {
    uint64_t start; /* ticks */
    double ns_per_tick;
};

struct tick_scale tfd_tick_scale(const struct tfd_spool_header *header);
/* Return ns since the session's start; negative if a call began before the session. */
int64_t tfd_ticks_to_ns(const struct tick_scale *scale, uint64_t ticks);
int64_t tfd_duration_to_ns(const struct tick_scale *scale, uint64_t ticks);

#endif
