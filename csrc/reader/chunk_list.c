#include "reader/chunk_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void tfd_chunk_list_add_segment(struct chunk_list *list, uint64_t offset, uint64_t size)
{
    list->segments[list->segment_count].start = offset;
    list->segments[list->segment_count].end = offset + size;
    list->segment_count++;
}

bool tfd_chunk_list_hits_segment(const struct chunk_list *list, uint64_t offset, uint64_t size)
{
    for (uint32_t i = 0; i < list->segment_count; i++)
        if (offset < list->segments[i].end && list->segments[i].start < offset + size)
            return true;
    return false;
}

static bool append(struct chunk_list *list, struct chunk_place place)
{
    if (list->count == list->capacity) {
        uint32_t capacity = list->capacity ? list->capacity * 2 : 256;
        struct chunk_place *larger = realloc(list->chunks, capacity * sizeof *larger);
        if (!larger)
            return false;
        list->chunks = larger;
        list->capacity = capacity;
    }
    place.order = list->count;
    list->chunks[list->count++] = place;
    return true;
}

static uint64_t *link_at(const struct chunk_list *list, const struct chunk_place *place)
{
    return tfd_at(&list->image->spool, place->link);
}

/* Return the end of the chunk at `offset`, 0 if the chunk is out of bounds or overlaps something else. */
static uint64_t end_of_chunk(const struct chunk_list *list, uint64_t offset)
{
    if (!tfd_image_holds_block(list->image, offset, sizeof(struct tfd_chunk)))
        return 0;
    const struct tfd_chunk *chunk = tfd_at(&list->image->spool, offset);
    uint64_t size = sizeof *chunk + (uint64_t)chunk->capacity * sizeof(tfd_place);
    if (!tfd_image_holds_block(list->image, offset, size) || tfd_chunk_list_hits_segment(list, offset, size))
        return 0;
    return offset + size;
}

/* Follow one thread's chain. `budget`: the bytes that are left for chunks, which a circular chain uses up. */
static int walk(struct chunk_list *list, uint64_t first_link, uint64_t *budget, bool *damaged)
{
    struct chunk_place place = {.link = first_link, .first = true};
    while ((place.start = *link_at(list, &place))) {
        place.end = end_of_chunk(list, place.start);
        if (!place.end || place.end - place.start > *budget) {
            /* The link may be in a chunk that turns out to overlap, so cut() unlinks. */
            place.end = 0;
            *damaged = true;
            return append(list, place) ? 0 : -ENOMEM;
        }
        *budget -= place.end - place.start;
        if (!append(list, place))
            return -ENOMEM;
        place.link = place.start + offsetof(struct tfd_chunk, next);
        place.first = false;
    }
    return 0;
}

static int by_start(const void *a, const void *b)
{
    const struct chunk_place *left = a, *right = b;
    if (left->start != right->start)
        return left->start < right->start ? -1 : 1;
    return left->order < right->order ? -1 : 1;
}

static int by_order(const void *a, const void *b)
{
    return ((const struct chunk_place *)a)->order < ((const struct chunk_place *)b)->order ? -1 : 1;
}

/* Set the end of bad chunks to 0. If two overlap, the one that starts later is bad. */
static void mark_overlaps(struct chunk_list *list, bool *damaged)
{
    uint64_t covered_until = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        struct chunk_place *place = &list->chunks[i];
        if (!place->end)
            continue;
        if (place->start < covered_until) {
            place->end = 0;
            *damaged = true;
        } else {
            covered_until = place->end;
        }
    }
}

/* This writes only links of good chunks, since bytes of a bad one may belong to a good one. */
static void cut(struct chunk_list *list)
{
    bool good = true;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct chunk_place *place = &list->chunks[i];
        good = good || place->first;
        if (!place->end && good) {
            *link_at(list, place) = 0;
            good = false;
        }
    }
}

int tfd_chunk_list_check(struct chunk_list *list, bool *damaged)
{
    const struct tfd_spool *spool = &list->image->spool;
    uint64_t budget = list->image->limit;
    int status = 0;
    for (uint32_t i = 0; i < atomic_load(&spool->header->thread_count) && !status; i++) {
        const struct tfd_thread *thread = tfd_thread_at(spool, i);
        uint64_t link = (uint64_t)((const char *)&thread->first_chunk - spool->base);
        status = walk(list, link, &budget, damaged);
    }
    if (!status && list->count) {
        qsort(list->chunks, list->count, sizeof *list->chunks, by_start);
        mark_overlaps(list, damaged);
        qsort(list->chunks, list->count, sizeof *list->chunks, by_order);
        cut(list);
    }
    free(list->chunks);
    list->chunks = NULL;
    return status;
}
