#define _GNU_SOURCE
#include "base/kernel_io.h"
#include "tfdarshan.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct tfd_own_io here;
static struct tfd_own_io *_Atomic excluded = &here;

void tfd_kernel_io_exclude(int64_t bytes_read)
{
    atomic_fetch_add(&atomic_load(&excluded)->read, bytes_read);
}

void tfd_kernel_io_exclude_written(int64_t bytes_written)
{
    atomic_fetch_add(&atomic_load(&excluded)->written, bytes_written);
}

void tfd_kernel_io_forget(void)
{
    struct tfd_own_io *own = atomic_load(&excluded);
    atomic_store(&own->read, 0);
    atomic_store(&own->written, 0);
}

struct tfd_own_io *tfd_kernel_io_excluded(void)
{
    return atomic_load(&excluded);
}

void tfd_kernel_io_exclude_in(struct tfd_own_io *own)
{
    atomic_store(&excluded, own);
    atomic_fetch_add(&own->read, atomic_exchange(&here.read, 0));
    atomic_fetch_add(&own->written, atomic_exchange(&here.written, 0));
}

static bool field(const char *text, const char *name, int64_t *value)
{
    const char *found = strstr(text, name);
    if (found)
        *value = strtoll(found + strlen(name), NULL, 10);
    return found;
}

void tfd_kernel_io_own(struct tfd_kernel_io *io)
{
    struct tfd_own_io *own = atomic_load(&excluded);
    io->own_rchar = atomic_load(&own->read);
    io->own_wchar = atomic_load(&own->written);
}

/* Format: proc(5), /proc/pid/io. "write_bytes: " also ends "cancelled_write_bytes: ", which comes later. */
struct tfd_kernel_io tfd_kernel_io_now(void)
{
    struct tfd_kernel_io io = {0};
    char text[512] = "";
    int fd = open("/proc/self/io", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return io;
    ssize_t got = read(fd, text, sizeof text - 1);
    close(fd);
    io.valid = got > 0 && field(text, "rchar: ", &io.rchar) && field(text, "wchar: ", &io.wchar) &&
               field(text, "syscr: ", &io.syscr) && field(text, "syscw: ", &io.syscw) &&
               field(text, "read_bytes: ", &io.read_bytes) && field(text, "write_bytes: ", &io.write_bytes);
    struct tfd_own_io *own = atomic_load(&excluded);
    io.own_wchar = atomic_load(&own->written);
    io.rchar -= atomic_load(&own->read);
    io.wchar -= io.own_wchar;
    tfd_kernel_io_exclude(got > 0 ? got : 0); /* the kernel counts this read from now on */
    io.own_rchar = atomic_load(&own->read);
    return io;
}

void tfd_kernel_reads(int64_t *rchar, int64_t *read_bytes)
{
    struct tfd_kernel_io io = tfd_kernel_io_now();
    *rchar = io.valid ? io.rchar : -1;
    *read_bytes = io.valid ? io.read_bytes : -1;
}
