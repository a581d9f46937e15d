/* The trace, in order of start.
 *
 * A thread's events lie in the order of their ends. That is the order of
 * their starts too, but for calls that a signal handler's calls interrupted:
 * these are stragglers, appended after what began later. So each thread gives
 * a run that is in order, all stragglers are sorted by themselves, and a heap
 * merges the runs and the stragglers into one index. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "error.h"
#include "reader_state.h"

/* An index entry is where the event is, and whose: offset / 8 in the high 44 bits, thread in the low 20. */
#define THREAD_BITS 20

_Static_assert(TFD_MAX_THREADS <= 1u << THREAD_BITS, "a thread's number fits an index entry");

struct run {
    uint64_t start; /* ticks, of the entry */
    uint64_t entry; /* next of the run */
    uint64_t latest_start;
    uint64_t chunk; /* of a thread; 0 = these are the stragglers */
    uint32_t thread, index;
};

struct trace {
    const struct tfd_reader *reader;
    struct run *heap;
    size_t run_count;
    uint64_t *stragglers;
    size_t straggler_count, straggler_capacity, next_straggler;
    bool collecting;
};

static uint64_t entry_of(const struct tfd_spool *spool, const struct tfd_event *event, uint32_t thread)
{
    return (uint64_t)((const char *)event - spool->base) / 8 << THREAD_BITS | thread;
}

static const struct tfd_event *event_of(const struct tfd_spool *spool, uint64_t entry)
{
    return tfd_at(spool, (entry >> THREAD_BITS) * 8);
}

static bool makes_sense(const struct tfd_reader *reader, const struct tfd_event *event)
{
    return event->operation < TFD_OPERATION_COUNT &&
           event->file < atomic_load_explicit(&reader->image.spool.header->file_count, memory_order_relaxed);
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

/* Goes to the next event of a thread that is not a straggler. 1, or 0 at the end, or -ENOMEM. */
static int next_of_thread(struct trace *trace, struct run *run)
{
    const struct tfd_spool *spool = &trace->reader->image.spool;
    while (run->chunk) {
        const struct tfd_chunk *chunk = tfd_at(spool, run->chunk);
        if (!chunk->kept || run->index >= atomic_load_explicit(&chunk->count, memory_order_relaxed)) {
            run->chunk = chunk->next;
            run->index = 0;
            continue;
        }
        const struct tfd_event *event = &chunk->events[run->index++];
        if (!makes_sense(trace->reader, event))
            continue;
        run->entry = entry_of(spool, event, run->thread);
        if (event->start >= run->latest_start) {
            run->start = run->latest_start = event->start;
            return 1;
        }
        if (trace->collecting && !add_straggler(trace, run->entry))
            return -ENOMEM;
    }
    return 0;
}

static int collect_stragglers(struct trace *trace, uint32_t thread_count)
{
    trace->collecting = true;
    for (uint32_t thread = 0; thread < thread_count; thread++) {
        struct run run = {.thread = thread,
                          .chunk = tfd_thread_at(&trace->reader->image.spool, thread)->first_chunk};
        int status;
        while ((status = next_of_thread(trace, &run)) > 0)
            ;
        if (status < 0)
            return status;
    }
    trace->collecting = false;
    return 0;
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

/* qsort() has no argument for it. */
static __thread const struct tfd_spool *sorted_spool;

static int by_start(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    uint64_t left_start = event_of(sorted_spool, left)->start,
             right_start = event_of(sorted_spool, right)->start;
    if (left_start != right_start)
        return left_start < right_start ? -1 : 1;
    return left < right ? -1 : left > right;
}

static void sort_stragglers(struct trace *trace)
{
    if (trace->straggler_count < 2)
        return;
    sorted_spool = &trace->reader->image.spool;
    qsort(trace->stragglers, trace->straggler_count, sizeof *trace->stragglers, by_start);
}

static bool next_straggler(struct trace *trace, struct run *run)
{
    if (trace->next_straggler == trace->straggler_count)
        return false;
    run->entry = trace->stragglers[trace->next_straggler++];
    run->start = event_of(&trace->reader->image.spool, run->entry)->start;
    return true;
}

static bool next_of_run(struct trace *trace, struct run *run)
{
    return run->thread == UINT32_MAX ? next_straggler(trace, run) : next_of_thread(trace, run) > 0;
}

static void start_runs(struct trace *trace, uint32_t thread_count)
{
    for (uint32_t thread = 0; thread <= thread_count; thread++) {
        struct run *run = &trace->heap[trace->run_count];
        *run = (struct run){.thread = UINT32_MAX};
        if (thread < thread_count)
            *run = (struct run){.thread = thread,
                                .chunk = tfd_thread_at(&trace->reader->image.spool, thread)->first_chunk};
        trace->run_count += next_of_run(trace, run);
    }
    for (size_t place = trace->run_count / 2; place-- > 0;)
        sift_down(trace->heap, trace->run_count, place);
}

static void merge_runs(struct trace *trace, struct tfd_reader *reader)
{
    uint64_t capacity = reader->contents.events_kept;
    while (trace->run_count && reader->segment_count < capacity) {
        reader->segments[reader->segment_count++] = trace->heap[0].entry;
        if (!next_of_run(trace, &trace->heap[0]))
            trace->heap[0] = trace->heap[--trace->run_count];
        if (trace->run_count > 1)
            sift_down(trace->heap, trace->run_count, 0);
    }
}

static int index_trace(struct tfd_reader *reader)
{
    uint32_t thread_count = atomic_load(&reader->image.spool.header->thread_count);
    struct trace trace = {.reader = reader};
    trace.heap = malloc((thread_count + (size_t)1) * sizeof *trace.heap);
    reader->segments = malloc((reader->contents.events_kept + 1) * sizeof *reader->segments);
    int status = trace.heap && reader->segments ? collect_stragglers(&trace, thread_count) : -ENOMEM;
    if (!status) {
        sort_stragglers(&trace);
        start_runs(&trace, thread_count);
        merge_runs(&trace, reader);
    } else {
        free(reader->segments);
        reader->segments = NULL;
        tfd_fail(ENOMEM, "no memory to sort the spool's events");
    }
    free(trace.heap);
    free(trace.stragglers);
    return status;
}

static void show_event(const struct tfd_reader *reader, uint64_t entry, struct tfd_event_batch *batch,
                       size_t row)
{
    const struct tfd_spool *spool = &reader->image.spool;
    const struct tfd_event *event = event_of(spool, entry);
    uint64_t start = event->start < event->end ? event->start : event->end;
    batch->start_ns[row] = tfd_ticks_to_ns(&reader->scale, start);
    batch->end_ns[row] = tfd_ticks_to_ns(&reader->scale, event->end);
    batch->tid[row] = tfd_thread_at(spool, entry & ((1u << THREAD_BITS) - 1))->tid;
    batch->operation[row] = event->operation;
    batch->flags[row] = event->flags;
    batch->error[row] = (int16_t)event->error;
    batch->file[row] = event->file;
    batch->offset[row] = event->offset;
    batch->length[row] = event->length;
}

size_t tfd_reader_events(struct tfd_reader *reader, uint64_t first, size_t rows,
                         struct tfd_event_batch *batch)
{
    if (!reader->segments && index_trace(reader))
        return 0;
    if (first >= reader->segment_count)
        return 0;
    if (rows > reader->segment_count - first)
        rows = (size_t)(reader->segment_count - first);
    for (size_t row = 0; row < rows; row++)
        show_event(reader, reader->segments[first + row], batch, row);
    return rows;
}
