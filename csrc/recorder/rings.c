#define _GNU_SOURCE
#include "recorder/rings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/kernel_io.h"

#define MOST_RINGS 16
#define BUFFER_BYTES 1024 /* a thread may have little stack */

/* Source: IORING_OFF_SQES, struct io_uring_sqe and enum io_uring_op in include/uapi/linux/io_uring.h. */
#define ENTRIES_OFFSET 0x10000000
#define ENTRY_BYTES 64
static const uint8_t of_no_file[] = {
    0,  /* NOP, or an entry that was never used */
    6,  /* POLL_ADD */
    7,  /* POLL_REMOVE */
    9,  /* SENDMSG */
    10, /* RECVMSG */
    11, /* TIMEOUT */
    12, /* TIMEOUT_REMOVE */
    13, /* ACCEPT */
    14, /* ASYNC_CANCEL */
    15, /* LINK_TIMEOUT */
    16, /* CONNECT */
    26, /* SEND */
    27, /* RECV */
    29, /* EPOLL_CTL */
    34, /* SHUTDOWN */
    40, /* MSG_RING */
};
static const char name[] = "anon_inode:[io_uring]";

/* Entries that were mapped while the session recorded. */
static struct {
    _Atomic uintptr_t address;
    _Atomic size_t length;
} mapped[MOST_RINGS];
static _Atomic int noted, looked_at; /* rings, and those whose entries were looked at */
static _Atomic bool used;

static bool is_of_file(uint8_t operation)
{
    return !memchr(of_no_file, operation, sizeof of_no_file);
}

static void look_at_entries(uintptr_t address, size_t length)
{
    const uint8_t *entries = (const uint8_t *)address;
    for (size_t at = 0; at + ENTRY_BYTES <= length; at += ENTRY_BYTES)
        if (is_of_file(entries[at]))
            atomic_store(&used, true);
    atomic_fetch_add(&looked_at, 1);
}

void tfd_rings_note(void)
{
    atomic_fetch_add(&noted, 1);
}

void tfd_rings_note_use(void)
{
    atomic_store(&used, true);
}

static bool is_ring(int fd)
{
    char link[32], target[sizeof name];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, target, sizeof target);
    return length == sizeof name - 1 && !memcmp(target, name, sizeof name - 1);
}

void tfd_rings_mapped(const void *address, size_t length, int fd, off_t offset)
{
    if (offset != ENTRIES_OFFSET || !is_ring(fd))
        return;
    for (int i = 0; i < MOST_RINGS; i++) {
        uintptr_t free_slot = 0;
        if (atomic_compare_exchange_strong(&mapped[i].address, &free_slot, (uintptr_t)address)) {
            atomic_store(&mapped[i].length, length);
            return;
        }
    }
    tfd_rings_note_use();
}

void tfd_rings_unmapping(const void *address)
{
    for (int i = 0; address && i < MOST_RINGS; i++) {
        uintptr_t found = (uintptr_t)address;
        if (atomic_load_explicit(&mapped[i].address, memory_order_relaxed) == found &&
            atomic_compare_exchange_strong(&mapped[i].address, &found, 0))
            look_at_entries((uintptr_t)address, atomic_load(&mapped[i].length));
    }
}

/* A line of /proc/self/maps: proc_pid_maps(5). */
static void look_at_mapping(const char *line, size_t length)
{
    char *rest;
    if (length < sizeof name || memcmp(line + length - (sizeof name - 1), name, sizeof name - 1))
        return;
    uintptr_t begin = strtoul(line, &rest, 16), end = strtoul(rest + 1, &rest, 16);
    if (strtoul(rest + sizeof " rw-s", NULL, 16) != ENTRIES_OFFSET)
        return;
    look_at_entries(begin, end - begin);
    for (int i = 0; i < MOST_RINGS; i++) {
        uintptr_t found = begin;
        atomic_compare_exchange_strong(&mapped[i].address, &found, 0);
    }
}

static void look_at_mappings(void)
{
    char text[BUFFER_BYTES];
    size_t kept = 0;
    ssize_t got;
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    while ((got = read(fd, text + kept, sizeof text - kept)) > 0) {
        tfd_kernel_io_exclude(got);
        size_t size = kept + (size_t)got, begin = 0;
        for (const char *end; (end = memchr(text + begin, '\n', size - begin));
             begin = (size_t)(end + 1 - text))
            look_at_mapping(text + begin, (size_t)(end - text) - begin);
        kept = size - begin;
        memmove(text, text + begin, kept);
        if (kept == sizeof text) /* a long path, which is no ring's */
            kept = 0;
    }
    close(fd);
}

bool tfd_rings_spare_files(bool any_open)
{
    if (any_open || atomic_load(&noted))
        look_at_mappings();
    for (int i = 0; i < MOST_RINGS; i++)
        if (atomic_exchange(&mapped[i].address, 0)) /* it went without a call of munmap() */
            tfd_rings_note_use();
    int rings = atomic_exchange(&noted, 0), known = atomic_exchange(&looked_at, 0);
    return !atomic_exchange(&used, false) && known && known >= rings;
}
