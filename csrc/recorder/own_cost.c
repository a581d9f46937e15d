#define _GNU_SOURCE
#include "recorder/own_cost.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "recorder/path_table.h"
#include "recorder/recorder_calls.h"
#include "recorder/session.h"
#include "recorder/transfer.h"

#define ROUNDS 4
#define OPENS 16   /* of a round; few, so that some rounds are not interrupted */
#define OPENED "/" /* a name that every process can open */

/* Until a session records, its number is 0, and a slot that is set up for 0 records into its own chunk. Calls are made
 * by number, so that another recorder in this process does not count them. */
static struct tfd_slot trial_slot;
static struct tfd_thread trial_thread;

struct trial {
    void (*once)(int fd, bool recorded);
    int fd, calls;
    void *fresh; /* page that is new to each round, as pages of a session's events are; NULL: none */
    size_t page_bytes;
};

static void read_once(int fd, bool recorded)
{
    char byte;
    uint64_t start = recorded ? tfd_ticks() : 0;
    ssize_t got = syscall(SYS_pread64, fd, &byte, 1, 0);
    if (recorded)
        tfd_record_transfer(TFD_OP_PREAD, false, fd, false, 0, got, 0, start);
}

static void open_once(int nothing, bool recorded)
{
    (void)nothing;
    uint64_t start = recorded ? tfd_ticks() : 0;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, OPENED, O_RDONLY | O_CLOEXEC | O_DIRECTORY, 0);
    if (recorded)
        tfd_record_open(TFD_OP_OPEN, AT_FDCWD, OPENED, fd, O_RDONLY, 0, start);
    if (fd < 0)
        return;
    start = recorded ? tfd_ticks() : 0;
    uint64_t word = recorded ? tfd_forget(fd) : 0;
    bool failed = syscall(SYS_close, fd);
    if (recorded)
        tfd_record_close(TFD_OP_CLOSE, word, failed, start);
}

static int64_t round_ns(const struct trial *trial, bool recorded)
{
    atomic_store(&trial_slot.chunk->fill, 0);
    if (trial->fresh)
        madvise(trial->fresh, trial->page_bytes, MADV_REMOVE);
    int64_t begin_ns = tfd_clock_ns(CLOCK_MONOTONIC);
    for (int call = 0; call < trial->calls; call++)
        trial->once(trial->fd, recorded);
    return tfd_clock_ns(CLOCK_MONOTONIC) - begin_ns;
}

/* Return what recording adds to a call by the quickest rounds: other use of the processor slows the others. */
static uint64_t added_ns(struct trial trial)
{
    int64_t least[2] = {INT64_MAX, INT64_MAX};
    for (int round = 0; round < 2 * ROUNDS; round++) {
        int64_t took_ns = round_ns(&trial, round % 2);
        least[round % 2] = took_ns < least[round % 2] ? took_ns : least[round % 2];
    }
    int64_t added = (least[1] - least[0]) / trial.calls;
    return added > 0 ? (uint64_t)added : 1;
}

/* What opening added to the tables is taken back. */
static int forget_trial(void)
{
    struct tfd_spool_header *header = tfd_session.spool.header;
    atomic_store(&header->file_count, TFD_FIRST_FILE);
    atomic_store(&header->files_over_cap, 0);
    atomic_store(&header->patterns_met.include, 0);
    atomic_store(&header->patterns_met.exclude, 0);
    tfd_positions_reset();
    return tfd_paths_reset();
}

/* The chunk's head ends with the first of the `pages`, and a round of reads fills the second one. */
static int measure(struct tfd_own_cost *cost, int fd, char *pages, size_t page_bytes)
{
    struct tfd_slot *own_slot = tfd_own_slot;
    struct tfd_chunk *chunk = (struct tfd_chunk *)(pages + page_bytes - sizeof *chunk);
    int transfers = (int)(page_bytes / sizeof(tfd_place) / TFD_SHORT_PLACES);
    chunk->capacity = (uint32_t)(2 * page_bytes / sizeof(tfd_place));
    trial_slot = (struct tfd_slot){.chunk = chunk, .thread = &trial_thread};
    tfd_own_slot = &trial_slot;
    tfd_descriptor_set(fd, 0, TFD_FIRST_FILE, 0, false);
    *cost = (struct tfd_own_cost){
        .transfer_ns = added_ns((struct trial){read_once, fd, transfers, pages + page_bytes, page_bytes}),
        .open_ns = added_ns((struct trial){open_once, -1, OPENS, NULL, 0}),
    };
    tfd_descriptor_forget(fd, 0);
    tfd_own_slot = own_slot;
    return forget_trial();
}

int tfd_own_cost_measure(struct tfd_own_cost *cost)
{
    int status = 0, saved_errno = errno;
    *cost = (struct tfd_own_cost){0};
    int fd = (int)syscall(SYS_openat, AT_FDCWD, tfd_session.spool.path, O_RDONLY | O_CLOEXEC, 0);
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, 3 * page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (fd >= 0 && pages != MAP_FAILED)
        status = measure(cost, fd, pages, page_bytes);
    if (pages != MAP_FAILED)
        munmap(pages, 3 * page_bytes);
    if (fd >= 0)
        syscall(SYS_close, fd);
    errno = saved_errno;
    return status;
}
