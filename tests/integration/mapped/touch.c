/* Touches pages of a mapped file, and times each touch: what a fault takes its thread, by no event of the kernel. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#define MOST_THREADS 64

struct touched {
    int64_t ns;     /* of all touches, added up over threads */
    int64_t faults; /* that getrusage counts of these threads meanwhile */
};

struct part {
    volatile const char *mapped;
    const int64_t *offsets;
    int64_t count;
    struct touched touched;
};

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t faults_here(void)
{
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_minflt + usage.ru_majflt;
}

static void *touch_part(void *argument)
{
    struct part *part = argument;
    now_ns(), faults_here(); /* maps what they need themselves */
    int64_t before = faults_here();
    for (int64_t i = 0; i < part->count; i++) {
        int64_t start_ns = now_ns();
        (void)part->mapped[part->offsets[i]];
        part->touched.ns += now_ns() - start_ns;
    }
    part->touched.faults = faults_here() - before;
    return 0;
}

/* Each thread touches its share of the offsets, one after the other. 0, or -1 where something was refused. */
int touch_pages(int fd, int64_t bytes, const int64_t *offsets, int64_t count, int thread_count,
                struct touched *sum)
{
    pthread_t threads[MOST_THREADS];
    struct part parts[MOST_THREADS] = {0};
    char *mapped = mmap(0, (size_t)bytes, PROT_READ, MAP_SHARED, fd, 0);
    if (mapped == MAP_FAILED || thread_count > MOST_THREADS)
        return -1;
    for (int i = 0; i < thread_count; i++) {
        int64_t first = count * i / thread_count, end = count * (i + 1) / thread_count;
        parts[i] = (struct part){.mapped = mapped, .offsets = offsets + first, .count = end - first};
        if (pthread_create(&threads[i], 0, touch_part, &parts[i]))
            return -1;
    }
    for (int i = 0; i < thread_count; i++) {
        pthread_join(threads[i], 0);
        sum->ns += parts[i].touched.ns;
        sum->faults += parts[i].touched.faults;
    }
    return munmap(mapped, (size_t)bytes);
}

#define PIECE_BYTES (4u << 20)

static void *fault_until(void *argument)
{
    const int64_t *end_ns = argument;
    char *piece = mmap(0, PIECE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (piece == MAP_FAILED)
        return 0;
    madvise(piece, PIECE_BYTES, MADV_NOHUGEPAGE);
    while (now_ns() < *end_ns) {
        for (size_t at = 0; at < PIECE_BYTES; at += 4096)
            ((volatile char *)piece)[at] = 1;
        madvise(piece, PIECE_BYTES, MADV_DONTNEED);
    }
    munmap(piece, PIECE_BYTES);
    return 0;
}

/* Has threads fault on memory that is no file's, as fast as they can, for so long. */
int storm(int64_t for_ns, int thread_count)
{
    pthread_t threads[MOST_THREADS];
    int64_t end_ns = now_ns() + for_ns;
    for (int i = 0; i < thread_count; i++)
        if (thread_count > MOST_THREADS || pthread_create(&threads[i], 0, fault_until, &end_ns))
            return -1;
    for (int i = 0; i < thread_count; i++)
        pthread_join(threads[i], 0);
    return 0;
}
