#define _GNU_SOURCE
#include "mapping/range_table.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static struct tfd_range ranges[TFD_RANGES_MAX];
static uint32_t used;      /* places from here on were never taken */
static uint32_t free_head; /* first free place + 1; its `offset` has the next one */
static size_t live;
static bool keep_ended;

static _Atomic bool distrusted;

/* Bounds of all ranges that were live since the table was empty. */
static _Atomic uintptr_t lowest = UINTPTR_MAX, highest;

bool tfd_ranges_may_touch(uintptr_t start, uintptr_t end)
{
    return start < atomic_load_explicit(&highest, memory_order_acquire) &&
           end > atomic_load_explicit(&lowest, memory_order_acquire);
}

void tfd_ranges_distrust(void)
{
    atomic_store(&distrusted, true);
}

bool tfd_ranges_were_distrusted(void)
{
    return atomic_load(&distrusted) && atomic_exchange(&distrusted, false);
}

void tfd_ranges_reset(void)
{
    used = free_head = 0;
    live = 0;
    atomic_store(&lowest, UINTPTR_MAX);
    atomic_store(&highest, 0);
}

void tfd_ranges_keep_ended(bool keep)
{
    keep_ended = keep;
}

static void free_place(uint32_t place)
{
    ranges[place] = (struct tfd_range){.offset = free_head};
    free_head = place + 1;
}

static uint32_t take_place(void)
{
    if (!free_head)
        return used < TFD_RANGES_MAX ? used++ : TFD_RANGES_MAX;
    uint32_t place = free_head - 1;
    free_head = (uint32_t)ranges[place].offset;
    return place;
}

bool tfd_ranges_add(const struct tfd_range *range)
{
    uint32_t place = take_place();
    if (place == TFD_RANGES_MAX)
        return false;
    ranges[place] = *range;
    live += !range->end_ns;
    if (range->start < atomic_load(&lowest))
        atomic_store(&lowest, range->start);
    if (range->end > atomic_load(&highest))
        atomic_store(&highest, range->end);
    return true;
}

static void end_place(uint32_t place, int64_t now_ns)
{
    live--;
    ranges[place].end_ns = now_ns;
    if (!keep_ended)
        free_place(place);
    if (live)
        return;
    atomic_store(&lowest, UINTPTR_MAX);
    atomic_store(&highest, 0);
}

/* Add what is left of a range after [start, end) has ended. */
static void add_rest(const struct tfd_range *old, uintptr_t start, uintptr_t end, int64_t now_ns)
{
    struct tfd_range left = *old, right = *old;
    left.end = start;
    right.start = end;
    right.offset += (int64_t)(end - old->start);
    left.begin_ns = right.begin_ns = now_ns;
    if (left.end > left.start)
        tfd_ranges_add(&left);
    if (right.end > right.start)
        tfd_ranges_add(&right);
}

static bool is_live(const struct tfd_range *range)
{
    return range->file && !range->end_ns;
}

void tfd_ranges_end(uintptr_t start, uintptr_t end, int64_t now_ns)
{
    for (uint32_t place = 0, count = used; place < count && live && start < end; place++) {
        struct tfd_range old = ranges[place];
        if (!is_live(&old) || old.start >= end || old.end <= start)
            continue;
        end_place(place, now_ns);
        add_rest(&old, start > old.start ? start : old.start, end < old.end ? end : old.end, now_ns);
    }
}

void tfd_ranges_end_all(int64_t now_ns)
{
    tfd_ranges_end(0, UINTPTR_MAX, now_ns);
}

struct tfd_range tfd_ranges_live_at(uintptr_t address)
{
    for (uint32_t place = 0; place < used && live; place++) {
        struct tfd_range found = ranges[place];
        if (!is_live(&found) || address < found.start || address >= found.end)
            continue;
        found.offset += (int64_t)(address - found.start);
        found.start = address;
        return found;
    }
    return (struct tfd_range){0};
}

void tfd_ranges_forget(int64_t before_ns)
{
    for (uint32_t place = 0; place < used; place++)
        if (ranges[place].file && ranges[place].end_ns && ranges[place].end_ns < before_ns)
            free_place(place);
}

static int by_start(const void *a, const void *b)
{
    const struct tfd_range *one = a, *other = b;
    return (one->start > other->start) - (one->start < other->start);
}

size_t tfd_ranges_copy(struct tfd_range *out)
{
    size_t count = 0;
    for (uint32_t place = 0; place < used; place++)
        if (ranges[place].file)
            out[count++] = ranges[place];
    return count;
}

void tfd_ranges_sort(struct tfd_range *copied, size_t count)
{
    qsort(copied, count, sizeof *copied, by_start);
}

bool tfd_ranges_has_live(uint64_t file)
{
    for (uint32_t place = 0; place < used; place++)
        if (ranges[place].file == file && !ranges[place].end_ns)
            return true;
    return false;
}

size_t tfd_ranges_live(void)
{
    return live;
}

const struct tfd_range *tfd_range_at(const struct tfd_range *table, size_t count, uintptr_t address,
                                     int64_t time_ns)
{
    for (size_t i = 0; i < count && table[i].start <= address; i++) {
        const struct tfd_range *range = &table[i];
        if (address < range->end && range->begin_ns <= time_ns && (!range->end_ns || time_ns < range->end_ns))
            return range;
    }
    return NULL;
}
