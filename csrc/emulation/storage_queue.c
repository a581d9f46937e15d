#define _GNU_SOURCE
#include "emulation/storage_queue.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"

#define NS_PER_S 1000000000u
#define OFFSET_BITS 40
#define NOWHERE UINT64_MAX

/* Times are of CLOCK_MONOTONIC, which all processes share. There is no lock: a
 * killed child would leave it held, and a signal handler would wait for the
 * call that it interrupted. */
struct device {
    _Atomic uint64_t queue_free_ns;
    _Atomic uint64_t head; /* file and offset at which the last request ended */
    _Atomic uint64_t in_flight;
    _Atomic uint64_t ticket;
    _Atomic uint64_t place_free_ns[TFD_STORAGE_PLACES]; /* when each place is free for another latency */
    _Atomic uint64_t calls, delayed_calls, delayed_ns, modelled_ns;
    _Atomic uint32_t files_opened;
    _Atomic uint32_t is_closed; /* the session is over, and no call waits */
};

/* Memory that the processes of a session share: forked ones inherit it, and those that join map it from a file. */
struct storage {
    struct device device;
    struct tfd_storage_model model; /* for processes that join */
};
_Static_assert(sizeof(struct storage) <= TFD_STORAGE_BYTES, "a joining process maps so much");

static struct tfd_storage_model model;
static struct storage *storage; /* never unmapped: a call of an earlier session may be under way */
static struct device *device;

/* Processes that shared an earlier mapping keep it. */
static int map(int fd)
{
    int flags = MAP_SHARED | (fd < 0 ? MAP_ANONYMOUS : 0) | (storage ? MAP_FIXED : 0);
    void *memory = mmap(storage, TFD_STORAGE_BYTES, PROT_READ | PROT_WRITE, flags, fd, 0);
    if (memory == MAP_FAILED)
        return tfd_fail(errno, "no memory for the emulated storage");
    storage = memory;
    device = &storage->device;
    return 0;
}

int tfd_storage_reset(const struct tfd_storage_model *chosen)
{
    int status = map(-1);
    if (status)
        return status;
    atomic_store(&device->head, NOWHERE);
    model = *chosen;
    return 0;
}

int tfd_storage_share(int fd)
{
    struct storage shared = {.model = model};
    atomic_init(&shared.device.head, NOWHERE);
    ssize_t written = pwrite(fd, &shared, sizeof shared, 0);
    if (written != (ssize_t)sizeof shared)
        return tfd_fail(written < 0 ? errno : ENOSPC, "the emulated storage cannot be shared");
    return map(fd);
}

int tfd_storage_join(int fd)
{
    int status = map(fd);
    if (!status)
        model = storage->model;
    return status;
}

void tfd_storage_close(void)
{
    if (device)
        atomic_store(&device->is_closed, 1);
}

uint32_t tfd_storage_new_file(void)
{
    return atomic_fetch_add_explicit(&device->files_opened, 1, memory_order_relaxed);
}

uint64_t tfd_storage_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* Serve `service_ns` after what is queued; return the time of the end. */
static uint64_t serve(_Atomic uint64_t *free_ns, uint64_t arrival_ns, uint64_t service_ns)
{
    uint64_t before = atomic_load_explicit(free_ns, memory_order_relaxed), end;
    do
        end = (before > arrival_ns ? before : arrival_ns) + service_ns;
    while (!atomic_compare_exchange_weak(free_ns, &before, end));
    return end;
}

static uint64_t serve_latency(uint64_t arrival_ns, uint64_t latency_ns)
{
    if (!latency_ns)
        return arrival_ns;
    uint64_t place = atomic_fetch_add(&device->ticket, 1) % model.concurrency;
    return serve(&device->place_free_ns[place], arrival_ns, latency_ns);
}

/* Cancellation is off: the data has been moved, and a cancelled thread would lose it. */
static void sleep_until(uint64_t end_ns)
{
    struct timespec until = {(time_t)(end_ns / NS_PER_S), (long)(end_ns % NS_PER_S)};
    int cancel_state, slack = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0); /* otherwise each sleep is 50 us too long */
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        ;
    prctl(PR_SET_TIMERSLACK, slack > 0 ? (unsigned long)slack : 0, 0, 0, 0);
    pthread_setcancelstate(cancel_state, NULL);
}

static void wait_until(uint64_t end_ns, uint64_t arrival_ns)
{
    uint64_t now_ns = tfd_storage_now();
    atomic_fetch_add_explicit(&device->calls, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&device->modelled_ns, end_ns - arrival_ns, memory_order_relaxed);
    if (now_ns >= end_ns)
        return;
    sleep_until(end_ns);
    atomic_fetch_add_explicit(&device->delayed_calls, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&device->delayed_ns, tfd_storage_now() - now_ns, memory_order_relaxed);
}

static uint64_t latency_of(enum tfd_storage_question question)
{
    switch (question) {
    case TFD_ASK_OPEN:
        return model.open_ns;
    case TFD_ASK_END_OF_FILE:
        return model.empty_read_ns;
    case TFD_ASK_STAT:
        return model.stat_ns;
    default:
        return model.sync_ns;
    }
}

void tfd_storage_ask(enum tfd_storage_question question, uint64_t arrival_ns)
{
    uint64_t latency_ns = latency_of(question);
    if (atomic_load_explicit(&device->is_closed, memory_order_relaxed))
        return;
    if (!latency_ns && question != TFD_ASK_OPEN)
        return; /* the client knows the answer without the device */
    int saved_errno = errno;
    wait_until(serve_latency(arrival_ns, latency_ns), arrival_ns);
    errno = saved_errno;
}

static uint64_t place_on_device(uint32_t file, uint64_t offset)
{
    return (uint64_t)file << OFFSET_BITS | (offset & (((uint64_t)1 << OFFSET_BITS) - 1));
}

/* Return true if the head has to move, and note its new place. */
static bool moves_head(const struct tfd_request *request)
{
    if (request->offset < 0) {
        uint64_t end = place_on_device(request->file, 0);
        return atomic_exchange(&device->head, end) != end;
    }
    uint64_t begin = place_on_device(request->file, (uint64_t)request->offset);
    uint64_t end = place_on_device(request->file, (uint64_t)request->offset + request->bytes);
    return atomic_exchange(&device->head, end) != begin;
}

static uint64_t transfer_ns(uint64_t bytes, uint64_t bytes_per_s)
{
    return bytes_per_s ? (uint64_t)((double)bytes * NS_PER_S / (double)bytes_per_s) : 0;
}

void tfd_storage_transfer(const struct tfd_request *request)
{
    if (atomic_load_explicit(&device->is_closed, memory_order_relaxed))
        return;
    int saved_errno = errno;
    uint64_t others = atomic_fetch_add(&device->in_flight, 1);
    uint64_t rank = others < TFD_STORAGE_PLACES ? others : TFD_STORAGE_PLACES - 1;
    uint64_t service_ns =
        transfer_ns(request->bytes, request->writes ? model.write_bytes_per_s : model.read_bytes_per_s);
    if (moves_head(request))
        service_ns += model.seek_ns[rank];
    uint64_t served_ns = serve(&device->queue_free_ns, request->arrival_ns, service_ns);
    uint64_t latency_ns = request->writes ? model.write_ns : model.read_ns;
    wait_until(serve_latency(served_ns, latency_ns), request->arrival_ns);
    atomic_fetch_sub(&device->in_flight, 1);
    errno = saved_errno;
}

void tfd_storage_totals(struct tfd_emulation_totals *totals)
{
    *totals = (struct tfd_emulation_totals){0};
    if (!device)
        return;
    totals->calls = atomic_load(&device->calls);
    totals->delayed_calls = atomic_load(&device->delayed_calls);
    totals->delayed_ns = atomic_load(&device->delayed_ns);
    totals->modelled_ns = atomic_load(&device->modelled_ns);
}
