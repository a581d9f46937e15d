/* An event of any values is read back from a chunk unchanged, and is stored in the shortest form that they fit. */
#define _GNU_SOURCE
#include "check.h"
#include "spool/spool.h"

#define LENGTH_OF(array) (sizeof(array) / sizeof *(array))
#define BASE 1000000000000ull
/* The last value that b bits hold, and the first that they do not. */
#define AROUND(bits) (1ull << (bits)) - 1, 1ull << (bits)

static const uint64_t deltas[] = {0, AROUND(34), AROUND(40), UINT64_MAX - BASE, UINT64_MAX};
static const uint64_t durations[] = {0, AROUND(22), AROUND(32), UINT64_MAX};
static const uint64_t lengths[] = {0, AROUND(18), AROUND(32), INT64_MAX, (uint64_t)INT64_MIN, UINT64_MAX};
/* One more than the offset: -1 is a common one. */
static const uint64_t ends_of_offset[] = {0, 1, AROUND(28), AROUND(40), 1ull + INT64_MAX, UINT64_MAX};
static const uint32_t files[] = {0, AROUND(18), AROUND(24), UINT32_MAX};
static const uint8_t flags[] = {0, 1, 2, 30, 31};
static const uint16_t errors[] = {0, AROUND(8), UINT16_MAX};
static const uint8_t operations[] = {0, 1, TFD_OPERATION_COUNT - 1, 31};

static struct {
    struct tfd_chunk chunk;
    tfd_place places[4096];
    uint64_t canary;
} memory = {.canary = 0x0123456789abcdef};

static struct tfd_event appended[4096];
static uint32_t appended_count;
static uint64_t forms_seen[TFD_PLACES_MAX + 1];

static bool fits(uint64_t value, unsigned bits)
{
    return value < 1ull << bits;
}

static uint32_t expected_places(const struct tfd_event *event)
{
    uint64_t delta = event->start - BASE, duration = event->end - event->start;
    uint64_t length = (uint64_t)event->length, offset = (uint64_t)event->offset + 1;
    if (fits(delta, 34) && fits(duration, 22) && fits(length, 18) && fits(offset, 28) &&
        fits(event->file, 18) && fits(event->flags, 1) && !event->error)
        return 2;
    bool medium = fits(delta, 40) && fits(duration, 32) && fits(length, 32) && fits(offset, 40) &&
                  fits(event->file, 24) && fits(event->error, 8);
    return medium ? 3 : 5;
}

static bool same(const struct tfd_event *a, const struct tfd_event *b)
{
    return a->start == b->start && a->end == b->end && a->offset == b->offset && a->length == b->length &&
           a->file == b->file && a->operation == b->operation && a->flags == b->flags && a->error == b->error;
}

static void check_event(const struct tfd_event *event)
{
    tfd_place places[TFD_PLACES_MAX + 1];
    memset(places, 0xa5, sizeof places);
    uint32_t count = tfd_pack(event, BASE, places);
    CHECK(count == expected_places(event) && count == tfd_places_of(places[0]));
    for (uint32_t i = count; i < LENGTH_OF(places); i++)
        CHECK(places[i] == 0xa5a5a5a5a5a5a5a5);
    struct tfd_event found;
    memset(&found, 0xff, sizeof found);
    tfd_unpack(places, BASE, &found);
    CHECK(same(&found, event));
    forms_seen[count]++;
}

/* The chunk's base is its first event's start: it is the same for all that follow. */
static void empty_chunk(void)
{
    memory.chunk.capacity = LENGTH_OF(memory.places);
    atomic_store(&memory.chunk.fill, 0);
    appended_count = 0;
    struct tfd_event first = {.start = BASE, .end = BASE};
    appended[appended_count++] = first;
    CHECK(tfd_chunk_append(&memory.chunk, &first));
}

static void check_chunk(void)
{
    uint32_t place = 0;
    for (uint32_t i = 0; i < appended_count; i++) {
        struct tfd_event found;
        place = tfd_chunk_event(&memory.chunk, place, &found);
        CHECK(same(&found, &appended[i]));
    }
    CHECK_EQUAL(place, tfd_chunk_count(&memory.chunk));
    CHECK_EQUAL(tfd_chunk_events(&memory.chunk), appended_count);
    CHECK(place <= LENGTH_OF(memory.places) && memory.canary == 0x0123456789abcdef);
}

static void append(const struct tfd_event *event)
{
    if (!tfd_chunk_append(&memory.chunk, event)) {
        CHECK(tfd_chunk_count(&memory.chunk) + TFD_PLACES_MAX > LENGTH_OF(memory.places));
        check_chunk();
        empty_chunk();
        CHECK(tfd_chunk_append(&memory.chunk, event));
    }
    appended[appended_count++] = *event;
}

/* `choice` has one digit per field, of a radix of as many digits as the field has values here. */
static struct tfd_event chosen_event(uint64_t choice)
{
    struct tfd_event event = {0};
    uint64_t duration;
#define CHOOSE(target, type, values)                                                                         \
    target = (type)values[choice % LENGTH_OF(values)];                                                       \
    choice /= LENGTH_OF(values)
    CHOOSE(event.start, uint64_t, deltas);
    CHOOSE(duration, uint64_t, durations);
    CHOOSE(event.length, int64_t, lengths);
    CHOOSE(event.offset, int64_t, ends_of_offset);
    CHOOSE(event.file, uint32_t, files);
    CHOOSE(event.flags, uint8_t, flags);
    CHOOSE(event.error, uint16_t, errors);
    CHOOSE(event.operation, uint8_t, operations);
#undef CHOOSE
    event.start += BASE;
    event.end = event.start + duration;
    event.offset = (int64_t)((uint64_t)event.offset - 1);
    return event;
}

#define CHOICES                                                                                              \
    (LENGTH_OF(deltas) * LENGTH_OF(durations) * LENGTH_OF(lengths) * LENGTH_OF(ends_of_offset) *             \
     LENGTH_OF(files) * LENGTH_OF(flags) * LENGTH_OF(errors) * LENGTH_OF(operations))

int main(int argc, char **argv)
{
    /* every so-manieth combination: a prime, so that each value meets each other */
    uint64_t step = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    empty_chunk();
    for (uint64_t choice = 0; choice < CHOICES; choice += step) {
        struct tfd_event event = chosen_event(choice);
        check_event(&event);
        append(&event);
    }
    check_chunk();
    CHECK(forms_seen[2] && forms_seen[3] && forms_seen[5]);
    /* what is no event takes one place and is none */
    struct tfd_event found;
    memory.places[0] = TFD_FORM_NONE;
    CHECK(tfd_chunk_event(&memory.chunk, 0, &found) == 1 && found.operation >= TFD_OPERATION_COUNT);
    memory.places[LENGTH_OF(memory.places) - 1] = TFD_FORM_SHORT;
    CHECK(tfd_chunk_event(&memory.chunk, LENGTH_OF(memory.places) - 1, &found) == LENGTH_OF(memory.places));
    CHECK(found.operation >= TFD_OPERATION_COUNT);
    return 0;
}
