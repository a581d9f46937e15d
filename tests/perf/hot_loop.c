/* The loops whose cost per call is measured.
 *
 * As a library it is driven from Python, which attaches and detaches between
 * runs; as a program it runs once, under whatever library is preloaded. Every
 * thread has a file of its own, so that nothing but the recorder is shared. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAX_THREADS 64
#define FILE_BYTES 1000000 /* at least: what hot_loop.py makes */

#define TICKS_PER_CELL 32
#define CELLS 8192 /* the last one has all that is longer */

struct target {
    char path[PATH_MAX];
    int fd;
    FILE *stream;
    uint32_t *durations; /* CELLS: how many calls took so many ticks, of loops that look at each call */
};

typedef void make_calls(struct target *target, long calls);

struct worker {
    pthread_t thread;
    pthread_barrier_t *begin;
    const struct loop *loop;
    struct target target;
    long warm_up, calls;
    double ns_per_call, cpu_ns_per_call, process_ns_per_call;
};

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static uint64_t ticks(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
#endif
}

static void pread_calls(struct target *target, long calls)
{
    char byte;
    for (long i = 0; i < calls; i++)
        if (pread(target->fd, &byte, 1, i % FILE_BYTES) != 1)
            fail("pread");
}

/* Two in a million of these meet the end of the file. */
static void fread_calls(struct target *target, long calls)
{
    char block[16];
    for (long i = 0; i < calls; i++)
        if (fread(block, sizeof block, 1, target->stream) != 1)
            rewind(target->stream);
}

/* A bare recorder of all calls: two time stamps, and 40 bytes in memory of the thread's own. */
struct note {
    uint64_t start, end; /* ticks */
    int64_t offset, length;
    int32_t fd;
    uint32_t operation;
};

static __thread struct {
    struct note *begin, *next, *end;
} notes __attribute__((tls_model("initial-exec")));

static void note_call(uint32_t operation, int fd, int64_t offset, int64_t length, uint64_t start)
{
    if (notes.next == notes.end)
        notes.next = notes.begin;
    *notes.next++ = (struct note){start, ticks(), offset, length, fd, operation};
}

static __attribute__((noinline)) ssize_t noted_pread(int fd, void *buffer, size_t count, off_t offset)
{
    uint64_t start = ticks();
    ssize_t got = pread(fd, buffer, count, offset);
    note_call(1, fd, offset, got, start);
    return got;
}

static __attribute__((noinline)) size_t noted_fread(void *buffer, size_t size, size_t items, FILE *stream)
{
    uint64_t start = ticks();
    size_t got = fread(buffer, size, items, stream);
    note_call(2, stream->_fileno, -1, (int64_t)(got * size), start);
    return got;
}

static void noted_pread_calls(struct target *target, long calls)
{
    char byte;
    for (long i = 0; i < calls; i++)
        if (noted_pread(target->fd, &byte, 1, i % FILE_BYTES) != 1)
            fail("pread");
}

static void noted_fread_calls(struct target *target, long calls)
{
    char block[16];
    for (long i = 0; i < calls; i++)
        if (noted_fread(block, sizeof block, 1, target->stream) != 1)
            rewind(target->stream);
}

static void tell_duration(struct target *target, uint64_t begin)
{
    uint64_t cell = (ticks() - begin) / TICKS_PER_CELL;
    target->durations[cell < CELLS ? cell : CELLS - 1]++;
}

static void pread_each_calls(struct target *target, long calls)
{
    char byte;
    for (long i = 0; i < calls; i++) {
        uint64_t begin = ticks();
        if (pread(target->fd, &byte, 1, i % FILE_BYTES) != 1)
            fail("pread");
        tell_duration(target, begin);
    }
}

static void noted_pread_each_calls(struct target *target, long calls)
{
    char byte;
    for (long i = 0; i < calls; i++) {
        uint64_t begin = ticks();
        if (noted_pread(target->fd, &byte, 1, i % FILE_BYTES) != 1)
            fail("pread");
        tell_duration(target, begin);
    }
}

/* Memory for so many calls, none of it touched yet. */
static void begin_notes(long calls)
{
    size_t bytes = (size_t)calls * sizeof *notes.begin;
    notes.begin = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (notes.begin == MAP_FAILED)
        fail("mmap");
    notes.next = notes.begin;
    notes.end = notes.begin + calls;
}

static void end_notes(void)
{
    munmap(notes.begin, (size_t)((char *)notes.end - (char *)notes.begin));
}

static void open_close_calls(struct target *target, long calls)
{
    for (long i = 0; i < calls; i++) {
        int fd = open(target->path, O_RDONLY | O_CLOEXEC);
        if (fd < 0 || close(fd))
            fail("open and close");
    }
}

static void stat_calls(struct target *target, long calls)
{
    struct stat status;
    for (long i = 0; i < calls; i++)
        if (stat(target->path, &status))
            fail("stat");
}

struct loop {
    const char *name;
    make_calls *make_calls;
    bool keeps_notes; /* of every call, else of the last thousand */
};

static const struct loop *find_loop(const char *name)
{
    static const struct loop loops[] = {{"pread", pread_calls, false},
                                        {"pread_noted", noted_pread_calls, false},
                                        {"pread_kept", noted_pread_calls, true},
                                        {"pread_each", pread_each_calls, false},
                                        {"pread_each_noted", noted_pread_each_calls, false},
                                        {"fread", fread_calls, false},
                                        {"fread_noted", noted_fread_calls, false},
                                        {"fread_kept", noted_fread_calls, true},
                                        {"open_close", open_close_calls, false},
                                        {"stat", stat_calls, false}};
    for (size_t i = 0; i < sizeof loops / sizeof *loops; i++)
        if (!strcmp(loops[i].name, name))
            return &loops[i];
    return NULL;
}

static double now_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void open_target(struct target *target)
{
    target->fd = open(target->path, O_RDONLY | O_CLOEXEC);
    target->stream = fopen(target->path, "re");
    if (target->fd < 0 || !target->stream)
        fail(target->path);
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    open_target(&worker->target);
    begin_notes(worker->loop->keeps_notes ? worker->warm_up + worker->calls : 1000);
    worker->loop->make_calls(&worker->target, worker->warm_up);
    memset(worker->target.durations, 0, CELLS * sizeof *worker->target.durations);
    pthread_barrier_wait(worker->begin);
    double begin_ns = now_ns(CLOCK_MONOTONIC), cpu_begin_ns = now_ns(CLOCK_THREAD_CPUTIME_ID),
           process_begin_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID);
    worker->loop->make_calls(&worker->target, worker->calls);
    worker->cpu_ns_per_call = (now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_begin_ns) / (double)worker->calls;
    worker->ns_per_call = (now_ns(CLOCK_MONOTONIC) - begin_ns) / (double)worker->calls;
    worker->process_ns_per_call =
        (now_ns(CLOCK_PROCESS_CPUTIME_ID) - process_begin_ns) / (double)worker->calls;
    pthread_barrier_wait(worker->begin); /* unmapping would disturb who still measures */
    end_notes();
    close(worker->target.fd);
    fclose(worker->target.stream);
    return NULL;
}

/* Means over the threads: wall-clock time, the threads' CPU time, and that of the process's other threads. Of loops
 * that look at each call, what 99.9 % of them took at most. */
struct timing {
    double wall_ns, cpu_ns, beside_ns, tail_ns;
};

static double ns_per_tick(void)
{
    double begin_ns = now_ns(CLOCK_MONOTONIC);
    uint64_t begin = ticks();
    while (now_ns(CLOCK_MONOTONIC) - begin_ns < 1e6)
        ;
    return (now_ns(CLOCK_MONOTONIC) - begin_ns) / (double)(ticks() - begin);
}

/* Of all threads' calls together. */
static double tail_ns(const struct worker *workers, int threads)
{
    uint64_t all = 0, below = 0;
    for (int i = 0; i < threads; i++)
        for (int cell = 0; cell < CELLS; cell++)
            all += workers[i].target.durations[cell];
    for (int cell = 0; cell < CELLS; cell++) {
        for (int i = 0; i < threads; i++)
            below += workers[i].target.durations[cell];
        if (all && (double)below >= 0.999 * (double)all)
            return (cell + 1) * TICKS_PER_CELL * ns_per_tick();
    }
    return 0;
}

/* Thread i uses `folder`/i and first makes `warm_up` calls. Returns -1 for an unknown loop or too many threads. */
__attribute__((visibility("default"))) int hot_loop_run(const char *name, const char *folder, int threads,
                                                        long warm_up, long calls, struct timing *per_call)
{
    static struct worker workers[MAX_THREADS];
    static uint32_t durations[MAX_THREADS][CELLS];
    const struct loop *loop = find_loop(name);
    pthread_barrier_t begin;
    if (!loop || threads < 1 || threads > MAX_THREADS)
        return -1;
    pthread_barrier_init(&begin, NULL, (unsigned)threads);
    for (int i = 0; i < threads; i++) {
        struct worker *worker = &workers[i];
        *worker = (struct worker){.begin = &begin, .loop = loop, .warm_up = warm_up, .calls = calls};
        worker->target.durations = durations[i];
        snprintf(worker->target.path, sizeof worker->target.path, "%s/%d", folder, i);
        if (pthread_create(&worker->thread, NULL, work, worker))
            fail("pthread_create");
    }
    double process_ns = 0;
    *per_call = (struct timing){0};
    for (int i = 0; i < threads; i++) {
        pthread_join(workers[i].thread, NULL);
        per_call->wall_ns += workers[i].ns_per_call / threads;
        per_call->cpu_ns += workers[i].cpu_ns_per_call / threads;
        process_ns += workers[i].process_ns_per_call / threads;
    }
    per_call->beside_ns = process_ns / threads - per_call->cpu_ns;
    per_call->tail_ns = tail_ns(workers, threads);
    pthread_barrier_destroy(&begin);
    return 0;
}

int main(int count, char **arguments)
{
    struct timing per_call;
    if (count != 6) {
        fprintf(stderr, "usage: %s LOOP FOLDER THREADS WARM_UP CALLS\n", arguments[0]);
        return 2;
    }
    if (hot_loop_run(arguments[1], arguments[2], atoi(arguments[3]), atol(arguments[4]), atol(arguments[5]),
                     &per_call))
        return 1;
    printf("%.3f %.3f %.3f %.3f\n", per_call.wall_ns, per_call.cpu_ns, per_call.beside_ns, per_call.tail_ns);
    return 0;
}
