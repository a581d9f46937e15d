#define _GNU_SOURCE
#include "recorder/bypasses.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/aio_mapping.h"
#include "base/clock.h"
#include "base/kernel_io.h"
#include "recorder/rings.h"

#define LOOK_NS 1000000   /* of the processor, after which the rest is left out */
#define BUFFER_BYTES 1024 /* a thread may have little stack */

/* Names that the kernel and NVIDIA's driver give. Source: io_uring/io_uring.c and fs/aio.c of Linux; the GPUDirect
 * Storage guide. */
static const char ring[] = "anon_inode:[io_uring]", cufile_device[] = "/dev/nvidia-fs",
                  context[] = TFD_AIO_MAPPING;

/* Return whether the target is a ring's. */
static bool note_target(struct tfd_spool_header *header, const char *target)
{
    bool is_ring = !strcmp(target, ring);
    if (is_ring)
        atomic_fetch_or(&header->bypasses, TFD_BYPASS_IO_URING);
    if (!strncmp(target, cufile_device, sizeof cufile_device - 1))
        atomic_fetch_or(&header->bypasses, TFD_BYPASS_CUFILE);
    return is_ring;
}

void tfd_bypasses_note_descriptor(struct tfd_spool_header *header, const char *target)
{
    if (note_target(header, target))
        tfd_rings_note();
}

static bool has_time(int64_t began_ns)
{
    return tfd_clock_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns < LOOK_NS;
}

static bool look_at_entries(struct tfd_spool_header *header, int folder, const char *entries, long bytes)
{
    bool any_ring = false;
    char target[sizeof ring + 1]; /* what is longer is cut, and is no ring */
    for (long at = 0; at < bytes;) {
        const struct dirent64 *entry = (const struct dirent64 *)(entries + at);
        ssize_t length = readlinkat(folder, entry->d_name, target, sizeof target - 1);
        if (length > 0) {
            target[length] = '\0';
            any_ring |= note_target(header, target);
        }
        at += entry->d_reclen;
    }
    return any_ring;
}

/* Return whether a ring is open. readdir(3) allocates memory, which a signal handler may not. */
static bool look_at_descriptors(struct tfd_spool_header *header, int64_t began_ns)
{
    _Alignas(struct dirent64) char entries[BUFFER_BYTES];
    long got;
    bool any_ring = false;
    int folder = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return false;
    while (has_time(began_ns) && (got = syscall(SYS_getdents64, folder, entries, sizeof entries)) > 0)
        any_ring |= look_at_entries(header, folder, entries, got);
    close(folder);
    return any_ring;
}

static ssize_t read_some(int fd, char *out)
{
    ssize_t got = read(fd, out, BUFFER_BYTES);
    if (got > 0)
        tfd_kernel_io_exclude(got);
    return got;
}

/* Return false if no process of the machine has an AIO context, which spares the list of mappings. */
static bool may_have_contexts(void)
{
    char count[BUFFER_BYTES];
    int fd = open("/proc/sys/fs/aio-nr", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return true;
    ssize_t got = read_some(fd, count);
    close(fd);
    return got <= 0 || count[0] != '0';
}

/* Return whether the name of a context ends in `text`; `matched` characters of it came before. The first character
 * occurs in the name once. */
static bool ends_name(const char *text, ssize_t bytes, size_t *matched)
{
    for (ssize_t i = 0; i < bytes && *matched < sizeof context - 1; i++)
        *matched = text[i] == context[*matched] ? *matched + 1 : text[i] == context[0];
    return *matched == sizeof context - 1;
}

static bool has_context(int64_t began_ns)
{
    char text[BUFFER_BYTES];
    size_t matched = 0;
    bool found = false;
    ssize_t got;
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    while (!found && has_time(began_ns) && (got = read_some(fd, text)) > 0)
        found = ends_name(text, got, &matched);
    close(fd);
    return found;
}

void tfd_bypasses_look(struct tfd_spool_header *header, bool is_last)
{
    int saved_errno = errno;
    int64_t began_ns = tfd_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    bool any_ring = look_at_descriptors(header, began_ns);
    if (is_last && tfd_rings_spare_files(any_ring))
        atomic_fetch_and(&header->bypasses, ~(uint64_t)TFD_BYPASS_IO_URING);
    bool is_noted = atomic_load(&header->bypasses) & TFD_BYPASS_AIO;
    if (!is_noted && may_have_contexts() && has_context(began_ns))
        atomic_fetch_or(&header->bypasses, TFD_BYPASS_AIO);
    errno = saved_errno;
}
