/* Layout of what untraced calls, those without a segment, did over time: exact sums in equal parts of the time since the
 * session's start. If a call ends after the last part, each two parts become one. */
#ifndef TFD_UNTRACED_H
#define TFD_UNTRACED_H

#include <stdint.h>

#include "spool/event.h"
#include "tfdarshan.h"

/* The shortest bin is about as long as a short call: 20 us at 3 GHz. */
#define TFD_UNTRACED_FIRST_SHIFT 16u
/* In place of the offset of struct tfd_untraced: there was no room, so nothing is added up. */
#define TFD_UNTRACED_NO_ROOM 1u

struct tfd_untraced_bin {
    uint64_t calls; /* that began in it */
    uint64_t moved
        [2]; /* bytes, TFD_CLASS_READ and TFD_CLASS_WRITE: each call's are spread evenly over its duration */
    uint64_t busy; /* ticks in calls, of all threads */
};

struct tfd_untraced {
    uint64_t start; /* of the first bin, in ticks */
    uint32_t shift; /* a bin has 1 << shift ticks */
    uint32_t unused;
    struct tfd_untraced_bin bins[TFD_UNTRACED_BINS];
};

#endif
