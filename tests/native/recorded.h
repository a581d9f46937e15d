/* Reads a spool event by event without the reader under test: this trusts only spool.h. */
#ifndef RECORDED_H
#define RECORDED_H

#include <sys/mman.h>
#include <sys/stat.h>

#include "check.h"
#include "spool/spool.h"

struct tally {
    int64_t calls; /* that succeeded */
    int64_t bytes;
    int64_t failed;
};

static inline bool recorded_exists(const char *directory, int pid)
{
    char path[PATH_MAX];
    check_spool_path(path, directory, pid);
    return access(path, F_OK) == 0;
}

/* Its head is written: that comes last. */
static inline bool recorded_begun(const char *directory, int pid)
{
    char path[PATH_MAX], magic[sizeof TFD_SPOOL_MAGIC - 1] = "";
    check_spool_path(path, directory, pid);
    int fd = open(path, O_RDONLY);
    if (fd < 0)
        return false;
    bool begun =
        read(fd, magic, sizeof magic) == sizeof magic && !memcmp(magic, TFD_SPOOL_MAGIC, sizeof magic);
    CHECK(close(fd) == 0);
    return begun;
}

/* Map the spool of `pid`. Call this while no session records in this process, or its calls are recorded too. */
static inline struct tfd_spool recorded_open(const char *directory, int pid)
{
    char path[PATH_MAX];
    struct stat status;
    struct tfd_spool spool = {0};
    check_spool_path(path, directory, pid);
    int fd = open(path, O_RDONLY);
    CHECK(fd >= 0 && fstat(fd, &status) == 0);
    spool.capacity_bytes = (uint64_t)status.st_size;
    spool.base = mmap(NULL, spool.capacity_bytes, PROT_READ, MAP_SHARED, fd, 0);
    CHECK(spool.base != MAP_FAILED && close(fd) == 0);
    spool.header = (struct tfd_spool_header *)spool.base;
    CHECK(!memcmp(spool.header->magic, TFD_SPOOL_MAGIC, sizeof spool.header->magic));
    CHECK_EQUAL(spool.header->pid, pid);
    return spool;
}

static inline void recorded_close(struct tfd_spool *spool)
{
    munmap(spool->base, spool->capacity_bytes);
}

/* Return true if the event's file has this path; NULL means any file. */
static inline bool recorded_is_of(const struct tfd_spool *spool, const struct tfd_event *event,
                                  const char *path)
{
    if (!path)
        return true;
    if (event->file < TFD_FIRST_FILE)
        return false;
    const struct tfd_file *file = tfd_file_at(spool, event->file);
    return file->path_length == strlen(path) && !memcmp(tfd_at(spool, file->path), path, file->path_length);
}

typedef void recorded_visit(void *context, const struct tfd_thread *thread, const struct tfd_event *event);

static inline void recorded_for_each(const struct tfd_spool *spool, recorded_visit *visit, void *context)
{
    for (uint32_t i = 0; i < atomic_load(&spool->header->thread_count); i++) {
        const struct tfd_thread *thread = tfd_thread_at(spool, i);
        for (uint64_t at = thread->first_chunk; at;) {
            const struct tfd_chunk *chunk = tfd_at(spool, at);
            for (uint32_t place = 0; place < tfd_chunk_count(chunk);) {
                struct tfd_event event;
                place = tfd_chunk_event(chunk, place, &event);
                visit(context, thread, &event);
            }
            at = chunk->next;
        }
    }
}

struct tally_wanted {
    const struct tfd_spool *spool;
    const char *path;
    int operation; /* -1: any */
    struct tally tally;
};

static inline void tally_add(void *context, const struct tfd_thread *thread, const struct tfd_event *event)
{
    (void)thread;
    struct tally_wanted *wanted = context;
    if ((wanted->operation >= 0 && wanted->operation != event->operation) ||
        !recorded_is_of(wanted->spool, event, wanted->path))
        return;
    wanted->tally.failed += event->error != 0;
    wanted->tally.calls += event->error == 0;
    wanted->tally.bytes += event->length;
}

/* Return the tally of an operation (-1: any) on a path (NULL: any). */
static inline struct tally recorded_tally(const struct tfd_spool *spool, const char *path, int operation)
{
    struct tally_wanted wanted = {spool, path, operation, {0}};
    recorded_for_each(spool, tally_add, &wanted);
    return wanted.tally;
}

static inline int64_t recorded_dropped(const struct tfd_spool *spool)
{
    int64_t dropped = 0;
    for (uint32_t i = 0; i < atomic_load(&spool->header->thread_count); i++)
        dropped += (int64_t)tfd_thread_at(spool, i)->events_dropped;
    return dropped;
}

/* Return the sum over threads of traffic that does not become events. */
static inline struct tfd_other_traffic recorded_other(const struct tfd_spool *spool, enum tfd_other_kind kind)
{
    struct tfd_other_traffic sum = {0};
    for (uint32_t i = 0; i < atomic_load(&spool->header->thread_count); i++) {
        const struct tfd_other_traffic *other = &tfd_thread_at(spool, i)->other[kind];
        sum.reads += other->reads;
        sum.bytes_read += other->bytes_read;
        sum.writes += other->writes;
        sum.bytes_written += other->bytes_written;
        sum.other_calls += other->other_calls;
    }
    return sum;
}

/* Map this process's spool, return one tally, and unmap it again. */
static inline struct tally recorded_here(const char *directory, const char *path, int operation)
{
    struct tfd_spool spool = recorded_open(directory, getpid());
    struct tally tally = recorded_tally(&spool, path, operation);
    recorded_close(&spool);
    return tally;
}

#endif
