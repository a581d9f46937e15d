#define _GNU_SOURCE
#include "faults/cached_files.h"

#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "faults/own_descriptor.h"
#include "faults/page_cache.h"
#include "mapping/mapped_files.h"
#include "mapping/mapping_lock.h"
#include "mapping/range_table.h"

#define LOOK_NS 500000000      /* time between two looks at the page cache, at least */
#define LOOK_SHARE 400         /* looks take 1/LOOK_SHARE of the time, or come less often */
#define LAST_LOOK_NS 500000000 /* time of the last looks, for which the host waits, at most */
#define MOST_DESCRIPTORS 1024u /* open files */

static const struct tfd_spool *spool;
static struct watched {
    uint64_t file;
    int fd;
    bool is_held;  /* it is still mapped */
    int64_t grown; /* bytes that came in between the last two looks */
} watched[MOST_DESCRIPTORS];
static uint32_t watched_count;
static int64_t next_look_ns;

void tfd_cached_files_reset(const struct tfd_spool *from)
{
    spool = from;
    watched_count = 0;
    next_look_ns = tfd_clock_ns(CLOCK_MONOTONIC) + LOOK_NS;
}

bool tfd_cached_files_are_due(int64_t now_ns)
{
    return now_ns >= next_look_ns;
}

static struct watched *watched_of(uint64_t file)
{
    for (uint32_t i = 0; i < watched_count; i++)
        if (watched[i].file == file)
            return &watched[i];
    return NULL;
}

void tfd_cached_files_begin(uint64_t offset, int32_t tid, int callers_fd)
{
    struct tfd_mapped_file *file = tfd_mapped_file_at(spool, offset);
    if (watched_of(offset))
        return;
    int fd = watched_count == MOST_DESCRIPTORS ? -1
             : callers_fd < 0                  ? tfd_own_descriptor_by_path(spool, file)
                                               : tfd_own_descriptor_like(file, tid, callers_fd);
    if (fd < 0) {
        file->bytes_in = TFD_BYTES_UNKNOWN;
        return;
    }
    watched[watched_count++] = (struct watched){.file = offset, .fd = fd};
    tfd_page_cache_begin(file, fd);
    tfd_mapping_lock();
    file->held = 1;
    tfd_mapping_unlock();
}

/* Look at a file until `until_ns`: if many large files are left when the host ends, the bytes of some stay unknown. */
static void look_at_file(struct watched *looked, int64_t until_ns)
{
    struct tfd_mapped_file *file = tfd_mapped_file_at(spool, looked->file);
    int64_t before = file->bytes_in;
    if (tfd_clock_ns(CLOCK_MONOTONIC) < until_ns)
        tfd_page_cache_look(file, looked->fd);
    else
        file->bytes_missed = 1;
    looked->grown = before >= 0 && file->bytes_in > before ? file->bytes_in - before : 0;
}

static void add_blocked(const struct tfd_blocked *blocked, uint64_t file, double share)
{
    struct tfd_mapped_file *mapped = tfd_mapped_file_at(spool, file);
    mapped->wait_ns += (int64_t)((double)blocked->wait_ns * share);
    mapped->busy_ns += (int64_t)((double)blocked->busy_ns * share);
}

/* Samples of threads show no address, so this charges their waits to the files whose bytes came in. */
static void share_out(const struct tfd_mapped_files *totals, struct tfd_blocked *blocked)
{
    int64_t grown = 0;
    for (uint32_t i = 0; i < watched_count; i++)
        grown += watched[i].grown;
    if (!grown && totals->count != 1)
        return;
    if (totals->count == 1)
        add_blocked(blocked, totals->first, 1);
    for (uint32_t i = 0; i < watched_count && totals->count != 1; i++)
        add_blocked(blocked, watched[i].file, (double)watched[i].grown / (double)grown);
    blocked->wait_ns = blocked->busy_ns = 0;
}

/* A thread that maps the file again asks for it again. */
static void say_what_is_held(struct watched *looked, bool is_last)
{
    tfd_mapping_lock();
    looked->is_held = !is_last && tfd_ranges_has_live(looked->file);
    tfd_mapped_file_at(spool, looked->file)->held = looked->is_held;
    tfd_mapping_unlock();
}

static void leave_unmapped(void)
{
    for (uint32_t i = 0; i < watched_count;) {
        if (watched[i].is_held) {
            i++;
            continue;
        }
        close(watched[i].fd);
        watched[i] = watched[--watched_count];
    }
}

void tfd_cached_files_look(const struct tfd_mapped_files *totals, struct tfd_blocked *blocked, bool is_last)
{
    int64_t begin_ns = tfd_clock_ns(CLOCK_MONOTONIC),
            until_ns = is_last ? begin_ns + LAST_LOOK_NS : INT64_MAX;
    for (uint32_t i = 0; i < watched_count; i++) {
        say_what_is_held(&watched[i], is_last);
        look_at_file(&watched[i], until_ns);
    }
    share_out(totals, blocked);
    leave_unmapped();
    int64_t took_ns = tfd_clock_ns(CLOCK_MONOTONIC) - begin_ns;
    next_look_ns = begin_ns + (took_ns * LOOK_SHARE > LOOK_NS ? took_ns * LOOK_SHARE : LOOK_NS);
}
