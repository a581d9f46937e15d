/* Times of reads of a few pages that are requested together, which tell storage with a latency from a disk that seeks.
 * In C, since waits for the interpreter's lock would count as the storage's. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "offline/lmdb/failure.h"

enum { PAGE_BYTES = 4096 };

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int read_page(int fd, uint64_t place, struct tfd_lmdb_error *error)
{
    char page[PAGE_BYTES];
    ssize_t got;
    do
        got = pread(fd, page, sizeof page, (off_t)place);
    while (got < 0 && errno == EINTR);
    return got < 0 ? tfd_lmdb_fail_system(error, errno, "cannot be read") : 0;
}

int tfd_lmdb_time_reads(int fd, const uint64_t *places, size_t count, double *elapsed_s,
                        struct tfd_lmdb_error *error)
{
    double begin_s = now_s();
    /* The kernel requests all pages at once. Threads of a busy machine would begin one after the other. */
    for (size_t i = 0; count > 1 && i < count; i++)
        (void)posix_fadvise(fd, (off_t)places[i], PAGE_BYTES, POSIX_FADV_WILLNEED);
    for (size_t i = 0; i < count; i++) {
        if (read_page(fd, places[i], error))
            return -1;
        elapsed_s[i] = now_s() - begin_s;
    }
    return 0;
}
