#define _GNU_SOURCE
#include "faults/fault_events.h"

#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MOST_CPUS 1024
#define MOST_THREADS 4096u
#define MOST_EVENTS 4096u
#define INHERIT_THREAD                                                                                       \
    (1ull << 35)         /* Linux 5.13: a bit of the attribute's flags, which older headers do not name */
#define ID_PLACES 16384u /* a power of two */
#define MOST_IDS (ID_PLACES / 2)
#define CPU_RING_BYTES (512u << 10) /* memory that each user may lock for each processor */
#define THREAD_RING_BYTES (64u << 10)
#define MOST_RING_BYTES (32u << 20) /* of all processors together */
#define LEAST_RING_BYTES (32u << 10)

struct ring {
    struct perf_event_mmap_page *control; /* NULL: none */
    size_t bytes;                         /* size of the data after the control page */
    int fds;                              /* entries of `fd` that are open */
    int fd[TFD_FAULT_KINDS];              /* events that write to the ring of the first one */
    int32_t tid;                          /* the thread; 0: all threads on a processor */
};

static struct ring rings[MOST_THREADS];
static uint32_t ring_count;
static bool per_thread;       /* true: a ring for each thread; false: for each processor */
static bool ring_was_refused; /* the last failure was the ring's memory, not the event */

/* Kinds of events by their ids. */
static struct {
    uint64_t id;
    uint32_t kind;
} kinds[ID_PLACES];
static uint32_t ids, open_events;
static int event_fds[MOST_EVENTS]; /* all events, unordered */

static int32_t own_tid(void)
{
    return (int32_t)syscall(SYS_gettid);
}

static void keep_kind(uint64_t id, uint32_t kind)
{
    uint32_t place = (uint32_t)id % ID_PLACES;
    while (kinds[place].id)
        place = (place + 1) % ID_PLACES;
    kinds[place].id = id;
    kinds[place].kind = kind;
    ids++;
}

static uint32_t kind_of(uint64_t id)
{
    for (uint32_t place = (uint32_t)id % ID_PLACES; kinds[place].id; place = (place + 1) % ID_PLACES)
        if (kinds[place].id == id)
            return kinds[place].kind;
    return TFD_FAULT_KINDS;
}

int tfd_fault_event_open(int32_t tid, int cpu, uint32_t kind, bool is_on)
{
    static const uint64_t configs[] = {PERF_COUNT_SW_PAGE_FAULTS, PERF_COUNT_SW_PAGE_FAULTS_MIN,
                                       PERF_COUNT_SW_PAGE_FAULTS_MAJ};
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof attributes,
        .config = configs[kind],
        .sample_period = 1,
        .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR,
        .disabled = !is_on,
        .inherit = cpu >= 0,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .watermark = 1,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
        .wakeup_watermark = UINT32_MAX, /* no thread waits for samples */
    };
    if (cpu >= 0) {
        uint64_t *flags =
            (uint64_t *)((char *)&attributes + offsetof(struct perf_event_attr, read_format)) + 1;
        *flags |= INHERIT_THREAD;
    }
    return (int)syscall(SYS_perf_event_open, &attributes, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Map a ring, smaller if the user has locked much memory already. */
static bool map_ring(struct ring *ring, int fd, size_t bytes)
{
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    for (bytes = bytes < page_bytes ? page_bytes : bytes; bytes >= page_bytes && bytes >= LEAST_RING_BYTES;
         bytes /= 2) {
        void *memory = mmap(NULL, bytes + page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (memory == MAP_FAILED)
            continue;
        ring->control = memory;
        ring->bytes = bytes;
        return true;
    }
    return false;
}

/* The kernel takes only powers of two. */
static size_t cpu_ring_bytes(int cpus)
{
    size_t bytes = CPU_RING_BYTES;
    while (bytes > LEAST_RING_BYTES && bytes * (size_t)cpus > MOST_RING_BYTES)
        bytes /= 2;
    return bytes;
}

static bool add_event(struct ring *ring, int32_t tid, int cpu, uint32_t kind, size_t bytes)
{
    uint64_t id = 0;
    int fd = tfd_fault_event_open(tid, cpu, kind, true);
    ring_was_refused = false;
    if (fd < 0)
        return false;
    bool is_first = !ring->control;
    bool added = is_first ? map_ring(ring, fd, bytes) : !ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd[0]);
    ring_was_refused = is_first && !added;
    if (added && ids < MOST_IDS && open_events < MOST_EVENTS && !ioctl(fd, PERF_EVENT_IOC_ID, &id)) {
        keep_kind(id, kind);
        event_fds[open_events++] = fd;
        if (is_first || cpu < 0)
            ring->fd[ring->fds++] = fd;
        ring->tid = cpu < 0 ? tid : 0;
        return true;
    }
    int saved_errno = errno;
    close(fd);
    errno = saved_errno;
    return false;
}

static bool add_thread_and_processor(struct ring *ring, int32_t tid, int cpu, size_t bytes)
{
    for (uint32_t kind = 0; kind < TFD_FAULT_KINDS; kind++)
        if (!add_event(ring, tid, cpu, kind, bytes))
            return false;
    return true;
}

/* List all threads but the caller, `capacity` at most. */
static size_t list_threads(int32_t *tids, size_t capacity)
{
    size_t count = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (const struct dirent *entry; tasks && (entry = readdir(tasks));) {
        int32_t tid = atoi(entry->d_name);
        if (tid > 0 && tid != own_tid() && count < capacity)
            tids[count++] = tid;
    }
    if (tasks)
        closedir(tasks);
    return count;
}

static size_t descriptors_to_take(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit))
        return 0;
    return limit.rlim_cur / 2 < MOST_EVENTS ? (size_t)limit.rlim_cur / 2 : MOST_EVENTS;
}

/* A thread may end meanwhile, so ESRCH is not a failure. */
static bool watch_on_all_processors(const int32_t *tids, size_t count, int cpus, int *error)
{
    for (int cpu = 0; cpu < cpus; cpu++) {
        struct ring *ring = &rings[cpu];
        ring_count = (uint32_t)cpu + 1;
        for (size_t i = 0; i < count; i++)
            if (!add_thread_and_processor(ring, tids[i], cpu, cpu_ring_bytes(cpus)) && errno != ESRCH &&
                errno != ENODEV) {
                *error = errno;
                return false;
            }
    }
    return true;
}

static struct ring *free_ring(void)
{
    for (uint32_t i = 0; i < ring_count; i++)
        if (!rings[i].control)
            return &rings[i];
    return ring_count < MOST_THREADS ? &rings[ring_count++] : NULL;
}

static void close_event(int fd)
{
    for (uint32_t i = 0; i < open_events; i++)
        if (event_fds[i] == fd) {
            event_fds[i] = event_fds[--open_events];
            break;
        }
    close(fd);
}

/* Release the ring of a thread that ended, after its samples were taken. */
static void release_ring(struct ring *ring)
{
    munmap(ring->control, ring->bytes + (size_t)sysconf(_SC_PAGESIZE));
    for (int i = 0; i < ring->fds; i++)
        close_event(ring->fd[i]);
    *ring = (struct ring){0};
}

static bool watch_thread(int32_t tid, int *error)
{
    struct ring *ring = open_events + TFD_FAULT_KINDS <= descriptors_to_take() ? free_ring() : NULL;
    *error = EMFILE;
    if (!ring)
        return false;
    if (add_thread_and_processor(ring, tid, -1, THREAD_RING_BYTES))
        return true;
    *error = errno;
    if (ring->control)
        release_ring(ring);
    return *error == ESRCH;
}

static enum tfd_fault_watch reason_of(int error)
{
    return error == EMFILE || error == ENFILE ? TFD_FAULTS_TOO_MANY
           : ring_was_refused                 ? TFD_FAULTS_NO_BUFFER
                                              : TFD_FAULTS_NO_EVENTS;
}

enum tfd_fault_watch tfd_fault_events_open(int *error)
{
    static int32_t tids[MOST_THREADS];
    size_t count = list_threads(tids, MOST_THREADS);
    long cpus = sysconf(_SC_NPROCESSORS_CONF);
    bool done = true;
    *error = 0;
    int probe = tfd_fault_event_open(own_tid(), -1, TFD_FAULT_BEGINS, false);
    if (probe < 0) {
        *error = errno;
        return TFD_FAULTS_NO_EVENTS;
    }
    close(probe);
    per_thread = cpus > MOST_CPUS || count * (size_t)cpus * TFD_FAULT_KINDS > descriptors_to_take() ||
                 !watch_on_all_processors(tids, count, (int)cpus, error);
    if (per_thread) {
        tfd_fault_events_close();
        for (size_t i = 0; i < count && done; i++)
            done = watch_thread(tids[i], error);
    }
    if (done)
        return TFD_FAULTS_WATCHED;
    enum tfd_fault_watch reason = reason_of(*error);
    tfd_fault_events_close();
    return reason;
}

void tfd_fault_events_close(void)
{
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    for (uint32_t i = 0; i < ring_count; i++)
        if (rings[i].control)
            munmap(rings[i].control, rings[i].bytes + page_bytes);
    for (uint32_t i = 0; i < open_events; i++)
        close(event_fds[i]);
    tfd_fault_events_reset_in_child();
}

void tfd_fault_events_reset_in_child(void)
{
    if (!ring_count)
        return; /* nothing was watched: the child writes no page */
    memset(rings, 0, sizeof rings[0] * ring_count);
    memset(kinds, 0, sizeof kinds);
    ring_count = ids = open_events = 0;
}

static void release_ended(const int32_t *tids, size_t count)
{
    for (uint32_t i = 0; i < ring_count; i++) {
        bool lives = !rings[i].control || rings[i].control->data_head != rings[i].control->data_tail;
        for (size_t t = 0; t < count && !lives; t++)
            lives = tids[t] == rings[i].tid;
        if (!lives)
            release_ring(&rings[i]);
    }
}

static bool is_watched(int32_t tid)
{
    for (uint32_t i = 0; i < ring_count; i++)
        if (rings[i].control && rings[i].tid == tid)
            return true;
    return false;
}

bool tfd_fault_events_are_whole(void)
{
    return ring_count && !per_thread;
}

void tfd_fault_events_follow_threads(void)
{
    static int32_t tids[MOST_THREADS];
    int error;
    if (!per_thread)
        return;
    size_t count = list_threads(tids, MOST_THREADS);
    release_ended(tids, count);
    for (size_t i = 0; i < count; i++)
        if (!is_watched(tids[i]) && !watch_thread(tids[i], &error))
            return;
}

static void copy_from(const struct ring *ring, uint64_t tail, void *out, size_t size)
{
    const char *data = (const char *)ring->control + sysconf(_SC_PAGESIZE);
    size_t at = tail % ring->bytes, first = ring->bytes - at < size ? ring->bytes - at : size;
    memcpy(out, data + at, first);
    memcpy((char *)out + first, data, size - first);
}

/* Format: perf_event_open(2), PERF_RECORD_SAMPLE with the sample_type above. */
struct sample_record {
    struct perf_event_header header;
    uint64_t id;
    uint32_t pid, tid;
    uint64_t time, address;
};

struct lost_record {
    struct perf_event_header header;
    uint64_t id, lost;
};

static void take_record(const struct ring *ring, uint64_t tail, const struct perf_event_header *header,
                        void (*take)(const struct tfd_fault_sample *sample), uint64_t *lost)
{
    if (header->type == PERF_RECORD_SAMPLE && header->size == sizeof(struct sample_record)) {
        struct sample_record record;
        copy_from(ring, tail, &record, sizeof record);
        struct tfd_fault_sample sample = {(int64_t)record.time, record.address, (int32_t)record.tid,
                                          kind_of(record.id)};
        if (sample.kind < TFD_FAULT_KINDS)
            take(&sample);
    } else if (header->type == PERF_RECORD_LOST && header->size >= sizeof(struct lost_record)) {
        struct lost_record record;
        copy_from(ring, tail, &record, sizeof record);
        *lost += record.lost;
    }
}

static void drain_ring(const struct ring *ring, void (*take)(const struct tfd_fault_sample *sample),
                       uint64_t *lost)
{
    uint64_t head = __atomic_load_n(&ring->control->data_head, __ATOMIC_ACQUIRE);
    uint64_t tail = ring->control->data_tail;
    while (tail < head) {
        struct perf_event_header header;
        copy_from(ring, tail, &header, sizeof header);
        if (header.size < sizeof header)
            break;
        take_record(ring, tail, &header, take, lost);
        tail += header.size;
    }
    __atomic_store_n(&ring->control->data_tail, head, __ATOMIC_RELEASE);
}

void tfd_fault_events_drain(void (*take)(const struct tfd_fault_sample *sample), uint64_t *lost)
{
    for (uint32_t i = 0; i < ring_count; i++)
        if (rings[i].control)
            drain_ring(&rings[i], take, lost);
}
