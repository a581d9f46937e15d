#define _GNU_SOURCE
#include "faults/fault_cost.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "faults/fault_events.h"

#define USUAL_NS 2000 /* cost of a sample if it cannot be measured */
#define LEAST_NS 200  /* bounds of a right measurement */
#define MOST_NS 6000
/* Cost of a sample in a program, in measured costs: programs use the processor's caches too. In a plain loop over
 * LMDB a sample cost what was measured, in tf.data up to 3 times that. */
#define IN_PROGRAM 3
#define SAMPLES_OF_FAULT 2
/* Cost of switching a thread's three events on and off, in samples: 1.8 us and 0.43 us on an AMD EPYC. */
#define SAMPLES_OF_SWITCH 4
#define PAGES 32u /* pages of a round; few, so that some rounds are not interrupted */
#define ROUNDS 8
#define RING_PAGES 4u /* pages for samples of 40 bytes each */

static int64_t sample_ns;

struct trial {
    int fds[TFD_FAULT_KINDS];
    uint32_t events;
    char *pages;
    struct perf_event_mmap_page *ring;
    size_t page_bytes;
};

static int64_t cpu_ns(void)
{
    return tfd_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static bool begin(struct trial *trial)
{
    *trial =
        (struct trial){.pages = MAP_FAILED, .ring = MAP_FAILED, .page_bytes = (size_t)sysconf(_SC_PAGESIZE)};
    int32_t tid = (int32_t)syscall(SYS_gettid);
    for (uint32_t kind = 0; kind < TFD_FAULT_KINDS; kind++) {
        int fd = tfd_fault_event_open(tid, -1, kind, false);
        if (fd < 0)
            return false;
        trial->fds[trial->events++] = fd;
        if (kind && ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, trial->fds[0]))
            return false;
        if (!kind)
            trial->ring =
                mmap(NULL, (1 + RING_PAGES) * trial->page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (trial->ring == MAP_FAILED)
            return false;
    }
    trial->pages =
        mmap(NULL, PAGES * trial->page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return trial->pages != MAP_FAILED;
}

static void end(const struct trial *trial)
{
    if (trial->ring != MAP_FAILED)
        munmap(trial->ring, (1 + RING_PAGES) * trial->page_bytes);
    if (trial->pages != MAP_FAILED)
        munmap(trial->pages, PAGES * trial->page_bytes);
    for (uint32_t i = 0; i < trial->events; i++)
        close(trial->fds[i]);
}

/* Return the processor time of one fault on each page. */
static int64_t touch(const struct trial *trial, bool with_events)
{
    madvise(trial->pages, PAGES * trial->page_bytes, MADV_NOHUGEPAGE);
    madvise(trial->pages, PAGES * trial->page_bytes, MADV_DONTNEED);
    for (uint32_t i = 0; i < trial->events; i++)
        ioctl(trial->fds[i], with_events ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
    int64_t begin_ns = cpu_ns();
    for (size_t page = 0; page < PAGES; page++)
        ((volatile char *)trial->pages)[page * trial->page_bytes] = 1;
    int64_t took_ns = cpu_ns() - begin_ns;
    trial->ring->data_tail = trial->ring->data_head;
    return took_ns;
}

/* Return the cost by the quickest rounds: other use of the processor slows the others. */
static int64_t measured_ns(const struct trial *trial)
{
    int64_t least[2] = {INT64_MAX, INT64_MAX};
    for (int round = 0; round < 2 * ROUNDS; round++) {
        int64_t took_ns = touch(trial, round % 2);
        least[round % 2] = took_ns < least[round % 2] ? took_ns : least[round % 2];
    }
    return (least[1] - least[0]) / (int64_t)(PAGES * SAMPLES_OF_FAULT);
}

void tfd_fault_cost_measure(void)
{
    struct trial trial;
    if (sample_ns)
        return;
    sample_ns = USUAL_NS;
    if (begin(&trial)) {
        int64_t found_ns = measured_ns(&trial);
        sample_ns = found_ns < LEAST_NS ? LEAST_NS : found_ns > MOST_NS ? MOST_NS : found_ns;
    }
    end(&trial);
}

int64_t tfd_fault_samples_cost_ns(uint64_t samples)
{
    return (int64_t)samples * IN_PROGRAM * (sample_ns ? sample_ns : USUAL_NS);
}

int64_t tfd_fault_switches_cost_ns(uint64_t switches)
{
    return tfd_fault_samples_cost_ns(switches * SAMPLES_OF_SWITCH);
}
