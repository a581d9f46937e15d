/* The layout of events in a chunk: in places of 8 bytes, most events in two places. Fewer bytes touch fewer new pages:
 * a page costs about 2 us in a virtual machine, which is 20 ns for each event of 40 bytes.
 *
 *   all      place 0   ... | flags | operation : 5 | form : 2, flags from bit 7 on
 *   short    place 0   start - chunk base : 34 | end - start : 22 | flags : 1
 *            place 1   offset + 1 : 28 | length : 18 | file : 18
 *   medium   place 0   start - chunk base : 40 | unused : 4 | error : 8 | flags : 5
 *            place 1   end - start : 32 | length : 32
 *            place 2   offset + 1 : 40 | file : 24
 *   wide     place 0   file : 32 | unused : 4 | error : 16 | flags : 5
 *            places 1 to 4   start, end, offset, length
 *
 * An event takes the first of these forms that its values fit. */
#ifndef TFD_PACKED_EVENT_H
#define TFD_PACKED_EVENT_H

#include <stdbool.h>

#include "spool/event.h"

typedef uint64_t tfd_place;

enum tfd_form { TFD_FORM_NONE, TFD_FORM_SHORT, TFD_FORM_MEDIUM, TFD_FORM_WIDE };
enum { TFD_SHORT_PLACES = 2, TFD_MEDIUM_PLACES = 3, TFD_WIDE_PLACES = 5, TFD_PLACES_MAX = 5 };

_Static_assert(TFD_OPERATION_COUNT <= 32, "an operation takes 5 bits");

/* The lowest `bits` bits. */
static inline uint64_t tfd_low(uint64_t value, unsigned bits)
{
    return value & ((1ull << bits) - 1);
}

static inline uint64_t tfd_pack_kind(const struct tfd_event *event, enum tfd_form form)
{
    return (uint64_t)event->flags << 7 | (uint64_t)event->operation << 2 | form;
}

/* Write an event of any values; return how many places it takes. The event is passed by value, so that the caller's can
 * stay in registers. */
uint32_t tfd_pack_long(struct tfd_event event, uint64_t base, tfd_place *places);

/* Write an event; return how many places it takes. */
static inline __attribute__((always_inline)) uint32_t tfd_pack(const struct tfd_event *event, uint64_t base,
                                                               tfd_place *places)
{
    uint64_t delta = event->start - base, duration = event->end - event->start;
    uint64_t length = (uint64_t)event->length, offset = (uint64_t)event->offset + 1;
    bool fits = !(delta >> 34 | duration >> 22 | length >> 18 | offset >> 28 | event->file >> 18 |
                  event->flags >> 1 | event->error);
    if (!__builtin_expect(fits, 1))
        return tfd_pack_long(*event, base, places);
    places[0] = delta << 30 | duration << 8 | tfd_pack_kind(event, TFD_FORM_SHORT);
    places[1] = offset << 36 | length << 18 | event->file;
    return TFD_SHORT_PLACES;
}

static inline enum tfd_form tfd_form_of(tfd_place first)
{
    return (enum tfd_form)(first & 3);
}

/* Return how many places an event takes; 1 if it is not an event, in a damaged chunk. */
static inline uint32_t tfd_places_of(tfd_place first)
{
    static const uint8_t places[] = {1, TFD_SHORT_PLACES, TFD_MEDIUM_PLACES, TFD_WIDE_PLACES};
    return places[tfd_form_of(first)];
}

/* Read an event in one of the longer forms. */
void tfd_unpack_long(const tfd_place *places, uint64_t base, struct tfd_event *event);

/* Read the event at a place that holds one. */
static inline void tfd_unpack(const tfd_place *places, uint64_t base, struct tfd_event *event)
{
    event->operation = (uint8_t)tfd_low(places[0] >> 2, 5);
    event->flags = (uint8_t)tfd_low(places[0] >> 7, 5);
    if (__builtin_expect(tfd_form_of(places[0]) != TFD_FORM_SHORT, 0)) {
        tfd_unpack_long(places, base, event);
        return;
    }
    event->flags &= 1;
    event->start = base + (places[0] >> 30);
    event->end = event->start + tfd_low(places[0] >> 8, 22);
    event->offset = (int64_t)(places[1] >> 36) - 1;
    event->length = (int64_t)tfd_low(places[1] >> 18, 18);
    event->file = (uint32_t)tfd_low(places[1], 18);
    event->error = 0;
}

#endif
