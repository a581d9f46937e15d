#include "faults/fault_pairs.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "faults/fault_log.h"
#include "mapping/mapped_files.h"

#define THREAD_PLACES 4096u /* a power of two */
#define MOST_SAMPLES (4u << 20)
#define PLACES_OF_THREAD 4u    /* places that a thread reads in turn */
#define JUMP_BYTES (512 << 10) /* a fault further away is out of order */
#define AROUND_PAGES 16        /* pages in memory that a fault maps around its own */

/* A place in a file that a thread reads on from. */
struct touched {
    const struct tfd_mapped_file *file; /* NULL: the place is free */
    int64_t offset;
};

/* The fault that a thread is in. */
struct begun {
    int32_t tid;    /* 0: the place is free */
    uint32_t drain; /* number of the last drain with a sample of it */
    uint32_t known; /* 1: a sample of it was processed */
    uint64_t fresh; /* samples in that drain */
    uint64_t address;
    int64_t time_ns;              /* when the fault began; 0: the thread is in no fault */
    int64_t offset;               /* of the page, in the file */
    struct tfd_mapped_file *file; /* NULL: memory of no watched file */
    struct touched last[PLACES_OF_THREAD];
    uint32_t oldest; /* index of the oldest place */
};

static struct tfd_fault_sample *samples;
static size_t sample_count, sample_capacity;
static struct begun begun[THREAD_PLACES];
static uint32_t begun_count, drain;
static struct tfd_fresh_samples fresh; /* of the last drain */
static int64_t window_ns; /* time since which each beginning of a fault has a sample; 0: not known */

void tfd_fault_pairs_reset(void)
{
    free(samples);
    tfd_fault_pairs_reset_in_child();
}

void tfd_fault_pairs_reset_in_child(void)
{
    samples = NULL;
    sample_count = sample_capacity = 0;
    if (begun_count)
        memset(begun, 0, sizeof begun);
    begun_count = 0;
}

size_t tfd_fault_pairs_waiting(void)
{
    return sample_count;
}

static void drop(struct begun *thread)
{
    if (thread->time_ns && thread->file && thread->file->under_way)
        thread->file->under_way--;
    thread->time_ns = 0;
}

static void add_wait(struct tfd_mapped_file *file, int64_t begin_ns, int64_t end_ns)
{
    file->wait_ns += end_ns - begin_ns;
    if (file->under_way == 1)
        file->busy_ns += end_ns - file->busy_since_ns;
}

static void forget_threads(void)
{
    for (uint32_t place = 0; place < THREAD_PLACES && begun_count; place++)
        drop(&begun[place]);
    if (begun_count)
        memset(begun, 0, sizeof begun);
    begun_count = 0;
}

void tfd_fault_pairs_begin_window(int64_t since_ns)
{
    window_ns = since_ns;
}

void tfd_fault_pairs_end_window(int64_t until_ns)
{
    for (uint32_t place = 0; place < THREAD_PLACES && begun_count; place++) {
        struct begun *thread = &begun[place];
        if (thread->time_ns && thread->file && until_ns > thread->time_ns)
            add_wait(thread->file, thread->time_ns, until_ns);
        drop(thread);
    }
    forget_threads();
    window_ns = 0;
}

/* Threads come and go. Once half of the places are taken, threads that are in no fault are forgotten. */
static struct begun *begun_of(int32_t tid)
{
    if (begun_count > THREAD_PLACES / 2) {
        forget_threads();
        window_ns = 0;
    }
    uint32_t place = (uint32_t)tid * 2654435761u % THREAD_PLACES;
    while (begun[place].tid && begun[place].tid != tid)
        place = (place + 1) % THREAD_PLACES;
    if (!begun[place].tid) {
        begun[place].tid = tid;
        begun_count++;
    }
    return &begun[place];
}

void tfd_fault_pairs_begin_drain(void)
{
    drain++;
    fresh = (struct tfd_fresh_samples){0};
}

struct tfd_fresh_samples tfd_fault_pairs_fresh(void)
{
    return fresh;
}

static void count_fresh(int32_t tid)
{
    struct begun *thread = begun_of(tid);
    if (thread->drain != drain) {
        thread->drain = drain;
        thread->fresh = 0;
        fresh.threads++;
    }
    thread->fresh++;
    fresh.samples++;
    fresh.busiest = thread->fresh > fresh.busiest ? thread->fresh : fresh.busiest;
}

/* Without memory a sample is dropped, and the other sample of its fault stays unpaired. */
void tfd_fault_pairs_take(const struct tfd_fault_sample *sample)
{
    count_fresh(sample->tid);
    if (sample_count == sample_capacity) {
        size_t capacity = sample_capacity ? 2 * sample_capacity : 4096;
        struct tfd_fault_sample *larger =
            capacity <= MOST_SAMPLES ? realloc(samples, capacity * sizeof *samples) : NULL;
        if (!larger)
            return;
        samples = larger;
        sample_capacity = capacity;
    }
    samples[sample_count++] = *sample;
}

static int by_time(const void *a, const void *b)
{
    const struct tfd_fault_sample *one = a, *other = b;
    if (one->time_ns != other->time_ns)
        return one->time_ns < other->time_ns ? -1 : 1;
    return (int)one->kind - (int)other->kind;
}

struct work {
    struct tfd_spool *spool;
    struct tfd_mapped_files *totals;
    const struct tfd_range *ranges, *last_found;
    size_t range_count;
    uint64_t page_bytes;
};

static void begin_fault(struct work *work, struct begun *thread, const struct tfd_fault_sample *sample,
                        const struct tfd_range *range)
{
    struct tfd_mapped_file *file = range ? tfd_mapped_file_at(work->spool, range->file) : NULL;
    thread->time_ns = sample->time_ns;
    thread->address = sample->address;
    thread->file = file;
    if (!file)
        return;
    uintptr_t page = sample->address & ~(work->page_bytes - 1);
    thread->offset = range->offset + (int64_t)(page - range->start);
    if (!file->under_way++)
        file->busy_since_ns = sample->time_ns;
}

static void keep_fault(struct work *work, const struct begun *thread, const struct tfd_fault_sample *end)
{
    struct tfd_kept_fault fault = {
        .start_ns = thread->time_ns,
        .end_ns = end->time_ns,
        .offset = thread->offset,
        .file = thread->file->file,
        .tid = end->tid,
        .is_major = end->kind == TFD_FAULT_ENDS_MAJOR,
    };
    tfd_fault_log_add(work->spool, work->totals, &fault);
}

/* The first fault after a jump maps its page. Each one after it also maps up to 64 KiB that are in memory. */
static int64_t touched_pages(struct begun *thread)
{
    for (uint32_t i = 0; i < PLACES_OF_THREAD; i++) {
        struct touched *last = &thread->last[i];
        if (last->file == thread->file && llabs(thread->offset - last->offset) <= JUMP_BYTES) {
            last->offset = thread->offset;
            return AROUND_PAGES;
        }
    }
    thread->last[thread->oldest++ % PLACES_OF_THREAD] =
        (struct touched){.file = thread->file, .offset = thread->offset};
    return 1;
}

static void end_fault(const struct work *work, struct begun *thread, const struct tfd_fault_sample *end)
{
    struct tfd_mapped_file *file = thread->file;
    int64_t wait_ns = end->time_ns - thread->time_ns;
    file->faults++;
    file->major_faults += end->kind == TFD_FAULT_ENDS_MAJOR;
    add_wait(file, thread->time_ns, end->time_ns);
    file->longest_ns = wait_ns > file->longest_ns ? wait_ns : file->longest_ns;
    file->first_ns = file->first_ns ? file->first_ns : thread->time_ns;
    file->last_ns = end->time_ns;
    file->bytes_touched += touched_pages(thread) * (int64_t)work->page_bytes;
}

static bool is_in(const struct tfd_range *range, const struct tfd_fault_sample *sample)
{
    return sample->address >= range->start && sample->address < range->end &&
           sample->time_ns >= range->begin_ns && (!range->end_ns || sample->time_ns < range->end_ns);
}

static const struct tfd_range *range_of(struct work *work, const struct tfd_fault_sample *sample)
{
    if (!work->last_found || !is_in(work->last_found, sample)) {
        const struct tfd_range *found =
            tfd_range_at(work->ranges, work->range_count, sample->address, sample->time_ns);
        if (!found)
            return NULL;
        work->last_found = found;
    }
    return work->last_found;
}

/* Begin a fault that was under way when events were opened. */
static void begin_before_window(struct work *work, struct begun *thread, const struct tfd_fault_sample *end)
{
    struct tfd_fault_sample begin = *end;
    begin.time_ns = window_ns < end->time_ns ? window_ns : end->time_ns;
    begin_fault(work, thread, &begin, range_of(work, end));
}

static void work_up(struct work *work, const struct tfd_fault_sample *sample)
{
    struct begun *thread = begun_of(sample->tid);
    bool is_first = !thread->known;
    thread->known = 1;
    if (sample->kind == TFD_FAULT_BEGINS) {
        work->totals->unpaired += thread->time_ns != 0;
        drop(thread);
        begin_fault(work, thread, sample, range_of(work, sample));
        return;
    }
    if (is_first && window_ns)
        begin_before_window(work, thread, sample);
    if (!thread->time_ns || thread->address != sample->address) {
        work->totals->unpaired++;
        return;
    }
    work->totals->faults++;
    if (thread->file) {
        end_fault(work, thread, sample);
        keep_fault(work, thread, sample);
    }
    drop(thread);
}

void tfd_fault_pairs_work(struct tfd_spool *spool, struct tfd_mapped_files *totals,
                          const struct tfd_range *ranges, size_t range_count, int64_t before_ns)
{
    struct work work = {.spool = spool, .totals = totals, .ranges = ranges, .range_count = range_count};
    work.page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    size_t done = 0;
    if (!sample_count)
        return;
    qsort(samples, sample_count, sizeof *samples, by_time);
    for (; done < sample_count && samples[done].time_ns < before_ns; done++)
        work_up(&work, &samples[done]);
    sample_count -= done;
    memmove(samples, samples + done, sample_count * sizeof *samples);
}
