/* The longer forms of events, for values that few calls have. */
#include "spool/packed_event.h"

static uint32_t pack_medium(const struct tfd_event *event, uint64_t base, tfd_place *places)
{
    uint64_t duration = event->end - event->start;
    places[0] =
        (event->start - base) << 24 | (uint64_t)event->error << 12 | tfd_pack_kind(event, TFD_FORM_MEDIUM);
    places[1] = duration << 32 | (uint64_t)event->length;
    places[2] = ((uint64_t)event->offset + 1) << 24 | event->file;
    return TFD_MEDIUM_PLACES;
}

static uint32_t pack_wide(const struct tfd_event *event, tfd_place *places)
{
    places[0] =
        (uint64_t)event->file << 32 | (uint64_t)event->error << 12 | tfd_pack_kind(event, TFD_FORM_WIDE);
    places[1] = event->start;
    places[2] = event->end;
    places[3] = (uint64_t)event->offset;
    places[4] = (uint64_t)event->length;
    return TFD_WIDE_PLACES;
}

uint32_t tfd_pack_long(struct tfd_event event, uint64_t base, tfd_place *places)
{
    uint64_t delta = event.start - base, duration = event.end - event.start;
    uint64_t length = (uint64_t)event.length, offset = (uint64_t)event.offset + 1;
    bool fits =
        !(delta >> 40 | duration >> 32 | length >> 32 | offset >> 40 | event.file >> 24 | event.error >> 8);
    return fits ? pack_medium(&event, base, places) : pack_wide(&event, places);
}

static void unpack_medium(const tfd_place *places, uint64_t base, struct tfd_event *event)
{
    event->start = base + (places[0] >> 24);
    event->end = event->start + (places[1] >> 32);
    event->length = (int64_t)tfd_low(places[1], 32);
    event->offset = (int64_t)(places[2] >> 24) - 1;
    event->file = (uint32_t)tfd_low(places[2], 24);
    event->error = (uint16_t)tfd_low(places[0] >> 12, 8);
}

static void unpack_wide(const tfd_place *places, struct tfd_event *event)
{
    event->start = places[1];
    event->end = places[2];
    event->offset = (int64_t)places[3];
    event->length = (int64_t)places[4];
    event->file = (uint32_t)(places[0] >> 32);
    event->error = (uint16_t)tfd_low(places[0] >> 12, 16);
}

void tfd_unpack_long(const tfd_place *places, uint64_t base, struct tfd_event *event)
{
    if (tfd_form_of(places[0]) == TFD_FORM_MEDIUM)
        unpack_medium(places, base, event);
    else
        unpack_wide(places, event);
}
