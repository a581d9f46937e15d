#include "reader/thinned_list.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/error.h"
#include "counters/fold_state.h"

#define COPIED (1ull << 63)

/* qsort(3) passes no context. */
static __thread const struct thinned_list *sorted_list;

/* Returns the array, or a larger one if it is full; NULL if there is no memory. */
static void *with_room(void *array, size_t count, size_t *capacity, size_t bytes)
{
    if (count < *capacity)
        return array;
    size_t larger = *capacity ? *capacity * 2 : 1024;
    void *grown = realloc(array, larger * bytes);
    if (grown)
        *capacity = larger;
    return grown;
}

static bool is_part(const struct thinned_list *list, const struct tfd_event *event, uint32_t thread)
{
    const struct tfd_spool *spool = &list->image->spool;
    return thread < atomic_load(&spool->header->thread_count) && tfd_event_makes_sense(spool, event) &&
           tfd_thinned_has(list->resolution, event, thread);
}

static bool add_entry(struct thinned_list *list, uint64_t entry)
{
    void *entries = with_room(list->entries, list->count, &list->capacity, sizeof *list->entries);
    if (!entries)
        return false;
    list->entries = entries;
    list->entries[list->count++] = entry;
    return true;
}

static bool add_copy(struct thinned_list *list, const struct tfd_event *event, uint32_t thread)
{
    void *copies = with_room(list->copies, list->copy_count, &list->copy_capacity, sizeof *list->copies);
    if (!copies)
        return false;
    list->copies = copies;
    list->copies[list->copy_count] = (struct tfd_thinned_call){.event = *event, .thread = thread};
    return add_entry(list, COPIED | list->copy_count++);
}

/* Return when the first call in the thread's last chunk began, in ticks, if the trace has that chunk. Only a thread's last
 * chunk may leave the trace, and its calls are thinned before (tfd_thinning_unkeep). */
static uint64_t last_in_trace(const struct tfd_spool *spool, uint32_t thread)
{
    const struct tfd_chunk *last = NULL;
    for (uint64_t offset = tfd_thread_at(spool, thread)->first_chunk; offset; offset = last->next)
        last = tfd_at(spool, offset);
    uint64_t start = last && last->kept ? tfd_chunk_first_start(last) : 0;
    return start ? start : UINT64_MAX;
}

/* Was the process killed while the call's chunk was leaving the trace? The record may have been another thread's. */
static bool is_in_trace(const struct thinned_list *list, const struct tfd_thinned_call *call)
{
    int32_t tid = tfd_thread_at(&list->image->spool, call->thread)->tid;
    return call->event.start >= list->last_in_trace[call->thread] && (!call->tid || call->tid == tid);
}

static bool add_block(struct thinned_list *list, uint64_t offset)
{
    const struct tfd_thinned_block *block = tfd_at(&list->image->spool, offset);
    uint32_t count = atomic_load(&block->count);
    for (uint32_t i = 0; i < count && i < TFD_THINNED_IN_BLOCK; i++) {
        const struct tfd_thinned_call *call = &block->calls[i];
        uint64_t place = offset + offsetof(struct tfd_thinned_block, calls) + i * sizeof *call;
        if (is_part(list, &call->event, call->thread) && !is_in_trace(list, call) && !add_entry(list, place))
            return false;
    }
    return true;
}

static bool find_last_in_trace(struct thinned_list *list)
{
    const struct tfd_spool *spool = &list->image->spool;
    uint32_t count = atomic_load(&spool->header->thread_count);
    list->last_in_trace = calloc(count + 1ull, sizeof *list->last_in_trace);
    for (uint32_t thread = 0; list->last_in_trace && thread < count; thread++)
        list->last_in_trace[thread] = last_in_trace(spool, thread);
    return list->last_in_trace;
}

/* In a damaged spool the blocks may be a circle. */
static bool add_blocks(struct thinned_list *list, uint64_t offset)
{
    if (offset && !find_last_in_trace(list))
        return false;
    uint64_t budget = list->image->limit / sizeof(struct tfd_thinned_block);
    while (budget-- && tfd_image_holds_block(list->image, offset, sizeof(struct tfd_thinned_block))) {
        if (!add_block(list, offset))
            return false;
        offset = ((const struct tfd_thinned_block *)tfd_at(&list->image->spool, offset))->next;
    }
    return true;
}

static bool add_not_folded(struct thinned_list *list, uint32_t thread)
{
    const struct tfd_spool *spool = &list->image->spool;
    for (uint64_t offset = tfd_thread_at(spool, thread)->first_chunk; offset;) {
        const struct tfd_chunk *chunk = tfd_at(spool, offset);
        uint32_t count = chunk->kept ? 0 : tfd_chunk_count(chunk);
        for (uint32_t place = atomic_load(&chunk->folded); place < count;) {
            struct tfd_event event;
            place = tfd_chunk_event(chunk, place, &event);
            if (is_part(list, &event, thread) && !add_copy(list, &event, thread))
                return false;
        }
        offset = chunk->next;
    }
    return true;
}

static const struct tfd_thinned_call *call_of(const struct thinned_list *list, uint64_t entry)
{
    return entry & COPIED ? &list->copies[entry & ~COPIED] : tfd_at(&list->image->spool, entry);
}

static int by_start(const void *a, const void *b)
{
    const struct tfd_thinned_call *left = call_of(sorted_list, *(const uint64_t *)a);
    const struct tfd_thinned_call *right = call_of(sorted_list, *(const uint64_t *)b);
    if (left->event.start != right->event.start)
        return left->event.start < right->event.start ? -1 : 1;
    if (left->thread != right->thread)
        return left->thread < right->thread ? -1 : 1;
    return (left->event.operation > right->event.operation) -
           (left->event.operation < right->event.operation);
}

int tfd_thinned_list_fill(struct thinned_list *list, const struct spool_image *image)
{
    const struct tfd_spool *spool = &image->spool;
    bool is_older = spool->header->version == TFD_OLDEST_SPOOL_VERSION;
    uint64_t offset = is_older ? 0 : atomic_load(&spool->header->thinned);
    const struct tfd_thinned *thinned = tfd_at(spool, offset);
    list->image = image;
    if (!tfd_image_holds_block(image, offset, sizeof *thinned) || atomic_load(&thinned->lacks))
        return 0;
    list->resolution = atomic_load(&thinned->resolution);
    bool added = add_blocks(list, thinned->first);
    for (uint32_t thread = 0; added && thread < atomic_load(&spool->header->thread_count); thread++)
        added = add_not_folded(list, thread);
    if (!added)
        return tfd_fail(ENOMEM, "no memory to read the spool's thinned calls");
    sorted_list = list;
    if (list->count)
        qsort(list->entries, list->count, sizeof *list->entries, by_start);
    return 0;
}

const struct tfd_thinned_call *tfd_thinned_list_call(const struct thinned_list *list, uint64_t place)
{
    return call_of(list, list->entries[place]);
}

void tfd_thinned_list_free(struct thinned_list *list)
{
    free(list->entries);
    free(list->copies);
    free(list->last_in_trace);
}
