#include "recorder/pending_requests.h"

#include <stdatomic.h>
#include <stddef.h>

#define PLACES 16384u /* a power of two, and more requests than a job has under way at once */
#define TRIES 64u     /* places that are searched for a control block */

/* Control blocks by place. A place is free, being written by its owner, or holds a request. */
static _Atomic(const void *) blocks[PLACES];
static struct tfd_async_request requests[PLACES];
static const char being_written;

static uint32_t first_place(const void *block)
{
    return (uint32_t)((uintptr_t)block * 0x9E3779B97F4A7C15u >> 40) & (PLACES - 1);
}

/* Set a place that holds `before` to `after`; return its number, PLACES if there is none. */
static uint32_t exchange(const void *block, const void *before, const void *after)
{
    uint32_t first = first_place(block);
    for (uint32_t i = 0; i < TRIES; i++) {
        const void *expected = before;
        uint32_t place = (first + i) & (PLACES - 1);
        if (atomic_load_explicit(&blocks[place], memory_order_relaxed) == before &&
            atomic_compare_exchange_strong(&blocks[place], &expected, after))
            return place;
    }
    return PLACES;
}

void tfd_pending_add(const void *block, const struct tfd_async_request *request)
{
    uint32_t place = exchange(block, NULL, &being_written);
    if (place == PLACES)
        return;
    requests[place] = *request;
    atomic_store_explicit(&blocks[place], block, memory_order_release);
}

bool tfd_pending_take(const void *block, struct tfd_async_request *request)
{
    uint32_t place = block ? exchange(block, block, &being_written) : PLACES;
    if (place == PLACES)
        return false;
    *request = requests[place];
    atomic_store_explicit(&blocks[place], NULL, memory_order_release);
    return true;
}

void tfd_pending_saw(const void *block, uint64_t ticks)
{
    uint32_t place = block ? exchange(block, block, &being_written) : PLACES;
    if (place == PLACES)
        return;
    requests[place].last_seen = ticks;
    atomic_store_explicit(&blocks[place], block, memory_order_release);
}

bool tfd_pending_has(const void *block)
{
    uint32_t first = first_place(block);
    for (uint32_t i = 0; block && i < TRIES; i++)
        if (atomic_load_explicit(&blocks[(first + i) & (PLACES - 1)], memory_order_relaxed) == block)
            return true;
    return false;
}
