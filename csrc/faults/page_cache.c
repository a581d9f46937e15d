#define _GNU_SOURCE
#include "faults/page_cache.h"

#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_cachestat
#define SYS_cachestat 451 /* Linux 6.5, the same on all machines */
#endif

/* Format: cachestat(2). */
struct cachestat_range {
    uint64_t offset, length;
};

struct cachestat {
    uint64_t cached, dirty, writeback, evicted, recently_evicted; /* pages */
};

static bool look(int fd, int64_t *cached, int64_t *evicted)
{
    struct cachestat_range whole = {0, 0};
    struct cachestat found;
    if (syscall(SYS_cachestat, fd, &whole, &found, 0))
        return false;
    int64_t page_bytes = sysconf(_SC_PAGESIZE);
    *cached = (int64_t)found.cached * page_bytes;
    *evicted = (int64_t)found.evicted * page_bytes;
    return true;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

void tfd_page_cache_begin(struct tfd_mapped_file *file, int fd)
{
    if (!look(fd, &file->bytes_cached, &file->bytes_evicted))
        file->bytes_in = TFD_BYTES_UNKNOWN;
    else if (file->bytes_in == TFD_BYTES_NOT_LOOKED)
        file->bytes_in = 0;
}

/* A page that came in and was evicted again shows as evicted. One that was evicted before and came back shows as
 * cached. The larger growth of both is the least that came in; the same holds for what left. */
void tfd_page_cache_look(struct tfd_mapped_file *file, int fd)
{
    int64_t cached, evicted;
    if (file->bytes_in < 0)
        return;
    if (!look(fd, &cached, &evicted)) {
        file->bytes_in = TFD_BYTES_UNKNOWN;
        return;
    }
    int64_t grown = cached - file->bytes_cached;
    int64_t more_evicted = evicted - file->bytes_evicted;
    file->bytes_in += larger(0, larger(grown, grown + more_evicted));
    file->bytes_left += larger(0, larger(-grown, more_evicted));
    file->bytes_cached = cached;
    file->bytes_evicted = evicted;
}
