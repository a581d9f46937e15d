#include "reader/longest_events.h"

#include <stdlib.h>

static bool is_longer(const struct tfd_plane_event *a, const struct tfd_plane_event *b)
{
    return a->duration_ns != b->duration_ns ? a->duration_ns > b->duration_ns : a->number < b->number;
}

static void swap(struct tfd_plane_event *a, struct tfd_plane_event *b)
{
    struct tfd_plane_event held = *a;
    *a = *b;
    *b = held;
}

/* Partition events `first` to `last` by the middle one: longer ones before it, shorter ones after it. Return its new
 * place. */
static size_t split(struct tfd_plane_event *events, size_t first, size_t last)
{
    size_t place = first;
    swap(&events[first + (last - first) / 2], &events[last]);
    for (size_t i = first; i < last; i++)
        if (is_longer(&events[i], &events[last]))
            swap(&events[i], &events[place++]);
    swap(&events[place], &events[last]);
    return place;
}

/* Quickselect: move the `limit` longest to the front. No two events are equal, since their numbers differ. */
static void drop_shorter(struct tfd_longest *longest)
{
    size_t first = 0, last = longest->count - 1;
    while (first < last) {
        size_t place = split(longest->events, first, last);
        if (place == longest->limit)
            break;
        if (place < longest->limit)
            first = place + 1;
        else
            last = place - 1;
    }
    longest->count = longest->limit;
    longest->shortest_ns = INT64_MAX;
    for (size_t i = 0; i < longest->count; i++)
        if (longest->events[i].duration_ns < longest->shortest_ns)
            longest->shortest_ns = longest->events[i].duration_ns;
}

static bool grow(struct tfd_longest *longest)
{
    size_t capacity = longest->capacity ? longest->capacity * 2 : 1024;
    if (capacity > 2 * longest->limit)
        capacity = 2 * longest->limit;
    struct tfd_plane_event *larger = realloc(longest->events, capacity * sizeof *larger);
    if (!larger)
        return false;
    longest->events = larger;
    longest->capacity = capacity;
    return true;
}

bool tfd_longest_add(struct tfd_longest *longest, const struct tfd_plane_event *event)
{
    uint64_t number = longest->seen++;
    if (!longest->limit || event->duration_ns < longest->shortest_ns)
        return true;
    if (longest->count == 2 * longest->limit)
        drop_shorter(longest);
    if (longest->count == longest->capacity && !grow(longest))
        return false;
    longest->events[longest->count] = *event;
    longest->events[longest->count++].number = number;
    return true;
}

static int by_thread(const void *a, const void *b)
{
    const struct tfd_plane_event *left = a, *right = b;
    if (left->tid != right->tid)
        return left->tid < right->tid ? -1 : 1;
    return left->number < right->number ? -1 : left->number > right->number;
}

void tfd_longest_finish(struct tfd_longest *longest)
{
    if (longest->count > longest->limit)
        drop_shorter(longest);
    if (longest->count)
        qsort(longest->events, longest->count, sizeof *longest->events, by_thread);
}

void tfd_longest_free(struct tfd_longest *longest)
{
    free(longest->events);
    *longest = (struct tfd_longest){0};
}
