/* Layout of the thinned calls: of those that the trace has no room for, the ones that the timeline shows.
 *
 * A call of `d` ticks has the priority d / u, where u, above 0 and at most 1, is a hash of the call. The thinned calls
 * are those whose priority is at least their resolution T: all calls of T or longer, and of shorter ones on average one
 * for each T of time that they took. As a call's priority never changes, what a larger T keeps is part of what a smaller
 * one keeps. So one store of T thins all of them: what has a lower priority is no thinned call any more, wherever it
 * still lies.
 *
 * The first open of a file is kept besides, and stands for itself. First opens take half of a block at most: of more
 * files, later ones are calls like others. */
#ifndef TFD_THINNED_H
#define TFD_THINNED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "spool/event.h"

#define TFD_THINNED_BLOCK_BYTES (32u << 10)
/* The trace's room ends with one part of so many for thinned calls. */
#define TFD_THINNED_PARTS 4u
/* Above it no call is kept. No call takes so long. */
#define TFD_HIGHEST_RESOLUTION (1ull << 60)

struct tfd_thinned_call {
    struct tfd_event event;
    uint32_t thread; /* index into the spool's threads */
    int32_t
        tid; /* of the thread that made the call: its record may be another's by now; 0: as the record says */
};

#define TFD_THINNED_IN_BLOCK ((TFD_THINNED_BLOCK_BYTES - 16u) / sizeof(struct tfd_thinned_call))

#define TFD_THINNED_FIRST_OPENS ((uint32_t)TFD_THINNED_IN_BLOCK / 2)

struct tfd_thinned_block {
    uint64_t next; /* offset of the next one, 0 = last */
    _Atomic uint32_t count;
    uint32_t first_opens;                                /* of these */
    struct tfd_thinned_call calls[TFD_THINNED_IN_BLOCK]; /* in order of folding, the oldest ones anywhere */
};

struct tfd_thinned {
    uint64_t first;              /* offset of the first block, 0 = none */
    _Atomic uint64_t resolution; /* T in ticks, a power of two; 0: nothing is thinned yet */
    _Atomic uint32_t lacks;      /* 1: there was no room to begin with, so nothing is kept here */
    uint32_t is_full;            /* 1: no more blocks */
    uint64_t link;               /* offset of the link to the block that is filled */
    uint64_t spare;              /* offset of a block outside of the list */
    uint32_t blocks, unthinned;  /* in the list; of these, not thinned since T was raised */
};

/* Is its priority at least the resolution, or is it kept besides? */
static inline bool tfd_thinned_has(uint64_t resolution, const struct tfd_event *event, uint32_t thread)
{
    if (event->flags & TFD_FLAG_FIRST_OPEN)
        return true;
    uint64_t ticks = event->end > event->start ? event->end - event->start : 1;
    if (!resolution || resolution > TFD_HIGHEST_RESOLUTION)
        return !resolution;
    uint64_t hash = event->start ^ (uint64_t)thread << 40; /* mixed as in splitmix64 */
    hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9;
    hash = (hash ^ hash >> 27) * 0x94d049bb133111eb;
    hash ^= hash >> 31;
    return (double)ticks * 0x1p32 >= (double)resolution * (double)((hash >> 32) + 1);
}

#endif
