#include "longest_events.h"

#include <stdlib.h>

static bool is_less(const struct tfd_plane_event *a, const struct tfd_plane_event *b)
{
    return a->duration_ns != b->duration_ns ? a->duration_ns < b->duration_ns : a->number > b->number;
}

static void sift_down(struct tfd_plane_event *heap, size_t size, size_t place)
{
    struct tfd_plane_event moving = heap[place];
    for (;;) {
        size_t child = 2 * place + 1;
        if (child >= size)
            break;
        if (child + 1 < size && is_less(&heap[child + 1], &heap[child]))
            child++;
        if (!is_less(&heap[child], &moving))
            break;
        heap[place] = heap[child];
        place = child;
    }
    heap[place] = moving;
}

static bool grow(struct tfd_longest *longest)
{
    size_t capacity = longest->capacity ? longest->capacity * 2 : 1024;
    struct tfd_plane_event *larger = realloc(longest->events, capacity * sizeof *larger);
    if (!larger)
        return false;
    longest->events = larger;
    longest->capacity = capacity;
    return true;
}

bool tfd_longest_add(struct tfd_longest *longest, const struct tfd_plane_event *event)
{
    struct tfd_plane_event numbered = *event;
    numbered.number = longest->seen++;
    if (longest->count == longest->limit) {
        if (longest->limit && is_less(&longest->events[0], &numbered)) {
            longest->events[0] = numbered;
            sift_down(longest->events, longest->count, 0);
        }
        return true;
    }
    if (longest->count == longest->capacity && !grow(longest))
        return false;
    longest->events[longest->count++] = numbered;
    if (longest->count == longest->limit)
        for (size_t place = longest->count / 2; place-- > 0;)
            sift_down(longest->events, longest->count, place);
    return true;
}

static int by_thread(const void *a, const void *b)
{
    const struct tfd_plane_event *left = a, *right = b;
    if (left->tid != right->tid)
        return left->tid < right->tid ? -1 : 1;
    return left->number < right->number ? -1 : left->number > right->number;
}

void tfd_longest_sort(struct tfd_longest *longest)
{
    if (longest->count)
        qsort(longest->events, longest->count, sizeof *longest->events, by_thread);
}

void tfd_longest_free(struct tfd_longest *longest)
{
    free(longest->events);
    *longest = (struct tfd_longest){0};
}
