/* How events lie in a chunk: 24 bytes each instead of 40, so that a spool holds
 * two thirds more of them and fewer fresh pages are touched per call (a page
 * costs about 2 us in a virtual machine, 20 ns for each 40-byte event).
 *
 *   word 0   start - chunk base : 40 | file   : 24
 *   word 1   end - start        : 32 | length : 32
 *   word 2   offset + 1 : 40 | operation : 5 | flags : 5 | error : 8 | wide : 1
 *
 * An event with a value that does not fit is wide: it takes two places,
 *   word 0   start        word 2   error, flags, operation, wide as above
 *   word 1   file         words 3, 4, 5   end, offset, length */
#ifndef TFD_PACKED_EVENT_H
#define TFD_PACKED_EVENT_H

#include <stdbool.h>

#include "event.h"

struct tfd_packed {
    uint64_t words[3];
};

enum { TFD_PACKED_PLACES_MAX = 2 };

_Static_assert(sizeof(struct tfd_packed) == 24, "a place is 24 bytes in every spool");
_Static_assert(TFD_OPERATION_COUNT <= 32, "an operation takes 5 bits");

#define TFD_WIDE_BIT (1ull << 58)

static inline bool tfd_is_wide(const struct tfd_packed *packed)
{
    return packed->words[2] & TFD_WIDE_BIT;
}

static inline uint64_t tfd_pack_kind(const struct tfd_event *event)
{
    return (uint64_t)event->operation << 40 | (uint64_t)event->flags << 45 |
           (uint64_t)(event->error & 0xff) << 50;
}

/* Writes one or two places and returns how many. */
static inline uint32_t tfd_pack(const struct tfd_event *event, uint64_t base, struct tfd_packed *places)
{
    uint64_t delta = event->start - base, duration = event->end - event->start;
    uint64_t length = (uint64_t)event->length, offset = (uint64_t)event->offset + 1,
             kind = tfd_pack_kind(event);
    if (__builtin_expect(!(delta >> 40 | event->file >> 24 | duration >> 32 | length >> 32 | offset >> 40),
                         1)) {
        places[0].words[0] = delta | (uint64_t)event->file << 40;
        places[0].words[1] = duration | length << 32;
        places[0].words[2] = offset | kind;
        return 1;
    }
    places[0] = (struct tfd_packed){{event->start, event->file, kind | TFD_WIDE_BIT}};
    places[1] = (struct tfd_packed){{event->end, (uint64_t)event->offset, length}};
    return 2;
}

/* Reads the event at a place and returns how many places it takes. */
static inline uint32_t tfd_unpack(const struct tfd_packed *places, uint64_t base, struct tfd_event *event)
{
    const uint64_t *words = places->words;
    event->operation = words[2] >> 40 & 31;
    event->flags = words[2] >> 45 & 31;
    event->error = words[2] >> 50 & 0xff;
    if (!tfd_is_wide(places)) {
        event->start = base + (words[0] & ((1ull << 40) - 1));
        event->end = event->start + (uint32_t)words[1];
        event->file = (uint32_t)(words[0] >> 40);
        event->length = (int64_t)(words[1] >> 32);
        event->offset = (int64_t)(words[2] & ((1ull << 40) - 1)) - 1;
        return 1;
    }
    event->start = words[0];
    event->file = (uint32_t)words[1];
    event->end = places[1].words[0];
    event->offset = (int64_t)places[1].words[1];
    event->length = (int64_t)places[1].words[2];
    return 2;
}

#endif
