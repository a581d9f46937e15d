/* The trace, in order of start.
 *
 * A thread's events are in the order of their ends. That is the order of their
 * starts too, except for calls that a signal handler interrupted: these are
 * stragglers, appended after events that began later. So each thread yields a
 * sorted run, the stragglers are sorted by themselves, and a heap merges all.
 * Only the stragglers are kept in memory: an index of all events would be half
 * as large as they are. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/error.h"
#include "reader/reader_state.h"

/* An entry is the place of an event: its chunk's number in the list, and its place in the chunk. */
#define PLACE_BITS 32

/* A chunk of the trace. The chunks of a thread are adjacent and in order. */
struct listed_chunk {
    uint64_t offset;
    uint32_t thread;
};

struct run {
    uint64_t start; /* of the entry, in ticks */
    uint64_t entry; /* next entry of the run */
    uint64_t latest_start;
    uint32_t chunk, last_chunk; /* of a thread, in the list; equal at the end, and for stragglers */
    uint32_t thread, place;
};

struct trace {
    const struct tfd_reader *reader;
    uint64_t position; /* position of the next event */
    struct listed_chunk *chunks;
    uint32_t chunk_count, chunk_capacity;
    uint32_t thread_count;
    struct run *heap;
    size_t run_count;
    uint64_t *stragglers;
    size_t straggler_count, straggler_capacity, next_straggler;
    bool collecting;
};

static uint64_t entry_of(uint32_t chunk, uint32_t place)
{
    return (uint64_t)chunk << PLACE_BITS | place;
}

static const struct listed_chunk *event_of(const struct trace *trace, uint64_t entry, struct tfd_event *event)
{
    const struct listed_chunk *listed = &trace->chunks[entry >> PLACE_BITS];
    tfd_chunk_event(tfd_at(&trace->reader->image.spool, listed->offset), (uint32_t)entry, event);
    return listed;
}

static bool list_chunk(struct trace *trace, struct listed_chunk chunk)
{
    if (trace->chunk_count == trace->chunk_capacity) {
        uint32_t capacity = trace->chunk_capacity ? trace->chunk_capacity * 2 : 256;
        struct listed_chunk *larger = realloc(trace->chunks, capacity * sizeof *larger);
        if (!larger)
            return false;
        trace->chunks = larger;
        trace->chunk_capacity = capacity;
    }
    trace->chunks[trace->chunk_count++] = chunk;
    return true;
}

/* List the chunks of the trace, which are those that were not recycled. */
static bool list_chunks(struct trace *trace)
{
    const struct tfd_spool *spool = &trace->reader->image.spool;
    for (uint32_t thread = 0; thread < trace->thread_count; thread++)
        for (uint64_t offset = tfd_thread_at(spool, thread)->first_chunk; offset;) {
            const struct tfd_chunk *chunk = tfd_at(spool, offset);
            if (chunk->kept && !list_chunk(trace, (struct listed_chunk){offset, thread}))
                return false;
            offset = chunk->next;
        }
    return true;
}

static struct run run_of_thread(const struct trace *trace, uint32_t thread, uint32_t *from)
{
    struct run run = {.thread = thread, .chunk = *from};
    while (*from < trace->chunk_count && trace->chunks[*from].thread == thread)
        ++*from;
    run.last_chunk = *from;
    return run;
}

static bool add_straggler(struct trace *trace, uint64_t entry)
{
    if (trace->straggler_count == trace->straggler_capacity) {
        size_t capacity = trace->straggler_capacity ? trace->straggler_capacity * 2 : 1024;
        uint64_t *larger = realloc(trace->stragglers, capacity * sizeof *larger);
        if (!larger)
            return false;
        trace->stragglers = larger;
        trace->straggler_capacity = capacity;
    }
    trace->stragglers[trace->straggler_count++] = entry;
    return true;
}

/* Go to the next event of a thread that is not a straggler; return 1, 0 at the end, or -ENOMEM. */
static int next_of_thread(struct trace *trace, struct run *run)
{
    const struct tfd_spool *spool = &trace->reader->image.spool;
    while (run->chunk != run->last_chunk) {
        const struct tfd_chunk *chunk = tfd_at(spool, trace->chunks[run->chunk].offset);
        if (run->place >= tfd_chunk_count(chunk)) {
            run->chunk++;
            run->place = 0;
            continue;
        }
        struct tfd_event event;
        uint32_t place = run->place;
        run->place = tfd_chunk_event(chunk, place, &event);
        if (!tfd_event_makes_sense(spool, &event))
            continue;
        run->entry = entry_of(run->chunk, place);
        if (event.start >= run->latest_start) {
            run->start = run->latest_start = event.start;
            return 1;
        }
        if (trace->collecting && !add_straggler(trace, run->entry))
            return -ENOMEM;
    }
    return 0;
}

static bool collect_stragglers(struct trace *trace)
{
    uint32_t from = 0;
    int status = 0;
    trace->collecting = true;
    for (uint32_t thread = 0; thread < trace->thread_count && status >= 0; thread++) {
        struct run run = run_of_thread(trace, thread, &from);
        while ((status = next_of_thread(trace, &run)) > 0)
            ;
    }
    trace->collecting = false;
    return status >= 0;
}

static bool is_before(const struct run *a, const struct run *b)
{
    return a->start < b->start || (a->start == b->start && a->thread < b->thread);
}

static void sift_down(struct run *heap, size_t size, size_t place)
{
    struct run moving = heap[place];
    for (;;) {
        size_t child = 2 * place + 1;
        if (child >= size)
            break;
        if (child + 1 < size && is_before(&heap[child + 1], &heap[child]))
            child++;
        if (!is_before(&heap[child], &moving))
            break;
        heap[place] = heap[child];
        place = child;
    }
    heap[place] = moving;
}

/* qsort(3) passes no context. */
static __thread const struct trace *sorted_trace;

static uint64_t start_of(const struct trace *trace, uint64_t entry)
{
    struct tfd_event event;
    event_of(trace, entry, &event);
    return event.start;
}

static int by_start(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    uint64_t left_start = start_of(sorted_trace, left), right_start = start_of(sorted_trace, right);
    if (left_start != right_start)
        return left_start < right_start ? -1 : 1;
    return left < right ? -1 : left > right;
}

static void sort_stragglers(struct trace *trace)
{
    if (trace->straggler_count < 2)
        return;
    sorted_trace = trace;
    qsort(trace->stragglers, trace->straggler_count, sizeof *trace->stragglers, by_start);
}

static bool next_straggler(struct trace *trace, struct run *run)
{
    if (trace->next_straggler == trace->straggler_count)
        return false;
    run->entry = trace->stragglers[trace->next_straggler++];
    run->start = start_of(trace, run->entry);
    return true;
}

static bool next_of_run(struct trace *trace, struct run *run)
{
    return run->thread == UINT32_MAX ? next_straggler(trace, run) : next_of_thread(trace, run) > 0;
}

static void rewind_trace(struct trace *trace)
{
    uint32_t from = 0;
    trace->position = trace->run_count = trace->next_straggler = 0;
    for (uint32_t thread = 0; thread <= trace->thread_count; thread++) {
        struct run *run = &trace->heap[trace->run_count];
        *run = (struct run){.thread = UINT32_MAX};
        if (thread < trace->thread_count)
            *run = run_of_thread(trace, thread, &from);
        trace->run_count += next_of_run(trace, run);
    }
    for (size_t place = trace->run_count / 2; place-- > 0;)
        sift_down(trace->heap, trace->run_count, place);
}

static bool next_entry(struct trace *trace, uint64_t *entry)
{
    if (!trace->run_count)
        return false;
    *entry = trace->heap[0].entry;
    trace->position++;
    if (!next_of_run(trace, &trace->heap[0]))
        trace->heap[0] = trace->heap[--trace->run_count];
    if (trace->run_count > 1)
        sift_down(trace->heap, trace->run_count, 0);
    return true;
}

void tfd_trace_free(struct trace *trace)
{
    if (!trace)
        return;
    free(trace->chunks);
    free(trace->heap);
    free(trace->stragglers);
    free(trace);
}

static struct trace *open_trace(const struct tfd_reader *reader)
{
    struct trace *trace = calloc(1, sizeof *trace);
    if (!trace)
        return NULL;
    trace->reader = reader;
    trace->thread_count = atomic_load(&reader->image.spool.header->thread_count);
    trace->heap = malloc((trace->thread_count + (size_t)1) * sizeof *trace->heap);
    if (!trace->heap || !list_chunks(trace) || !collect_stragglers(trace)) {
        tfd_trace_free(trace);
        return NULL;
    }
    sort_stragglers(trace);
    rewind_trace(trace);
    return trace;
}

/* Pages are usually read in order. An earlier page is reached from the beginning. */
static bool go_to(struct trace *trace, uint64_t position)
{
    uint64_t entry;
    if (position < trace->position)
        rewind_trace(trace);
    while (trace->position < position)
        if (!next_entry(trace, &entry))
            return false;
    return true;
}

void tfd_reader_show_event(const struct tfd_reader *reader, const struct tfd_event *event, int32_t tid,
                           struct tfd_event_batch *batch, size_t row)
{
    uint64_t start = event->start < event->end ? event->start : event->end;
    batch->start_ns[row] = tfd_ticks_to_ns(&reader->scale, start);
    batch->end_ns[row] = tfd_ticks_to_ns(&reader->scale, event->end);
    batch->tid[row] = tid;
    batch->operation[row] = event->operation;
    batch->flags[row] = event->flags;
    batch->error[row] = (int16_t)event->error;
    batch->file[row] = event->file;
    batch->offset[row] = event->offset;
    batch->length[row] = event->length;
}

static void show_entry(const struct trace *trace, uint64_t entry, struct tfd_event_batch *batch, size_t row)
{
    struct tfd_event event;
    const struct listed_chunk *chunk = event_of(trace, entry, &event);
    int32_t tid = tfd_thread_at(&trace->reader->image.spool, chunk->thread)->tid;
    tfd_reader_show_event(trace->reader, &event, tid, batch, row);
}

size_t tfd_reader_events(struct tfd_reader *reader, uint64_t first, size_t rows,
                         struct tfd_event_batch *batch)
{
    if (!reader->trace && !(reader->trace = open_trace(reader))) {
        tfd_fail(ENOMEM, "no memory to sort the spool's events");
        return 0;
    }
    if (!go_to(reader->trace, first))
        return 0;
    size_t shown = 0;
    for (uint64_t entry; shown < rows && next_entry(reader->trace, &entry); shown++)
        show_entry(reader->trace, entry, batch, shown);
    return shown;
}
