#define _GNU_SOURCE
#include "hooks/protected_range.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/kernel_io.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum part { START, END, PROTECTION, REST };

/* Format: proc(5), /proc/pid/maps: start-end rwxp ... */
struct line {
    enum part part;
    struct tfd_range range;
};

static uintptr_t with_digit(uintptr_t value, char digit)
{
    return value << 4 | (uintptr_t)(digit <= '9' ? digit - '0' : digit - 'a' + 10);
}

static void take(struct line *line, char c)
{
    if (c == '\n')
        *line = (struct line){0};
    else if (line->part == START && c == '-')
        line->part = END;
    else if (line->part == START)
        line->range.start = with_digit(line->range.start, c);
    else if (line->part == END && c == ' ')
        line->part = PROTECTION;
    else if (line->part == END)
        line->range.end = with_digit(line->range.end, c);
    else if (line->part == PROTECTION && c == ' ')
        line->part = REST;
    else if (line->part == PROTECTION)
        line->range.protection |= c == 'r' ? PROT_READ : c == 'w' ? PROT_WRITE : c == 'x' ? PROT_EXEC : 0;
}

static bool is_it(const struct line *line, uintptr_t address)
{
    return line->part == REST && line->range.start <= address && address < line->range.end;
}

static bool is_writable(uintptr_t start, uintptr_t size)
{
    return !madvise((void *)start, size, MADV_POPULATE_WRITE);
}

/* Since Linux 5.14 the kernel tells in 1 us whether a page can be written; its list of mappings takes 50 us. */
bool tfd_page_range_of(const void *address, const struct tfd_image *image, struct tfd_range *range)
{
    static char known[2]; /* on a writable page: the kernel must call it writable, or it cannot tell */
    uintptr_t size = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)address & ~(size - 1);
    bool is_locked = image->relro_start <= start && start < image->relro_end;
    *range = (struct tfd_range){start, start + size, PROT_READ | PROT_WRITE};
    if (is_writable(start, size))
        return true;
    if (!is_locked || !is_writable((uintptr_t)known & ~(size - 1), size))
        return tfd_range_of(address, range);
    range->protection = PROT_READ;
    return true;
}

bool tfd_range_of(const void *address, struct tfd_range *range)
{
    char text[4096];
    struct line line = {0};
    ssize_t got = 0;
    bool found = false;
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && !found && (got = read(fd, text, sizeof text)) > 0) {
        tfd_kernel_io_exclude(got);
        for (ssize_t i = 0; i < got && !found; i++) {
            take(&line, text[i]);
            found = is_it(&line, (uintptr_t)address);
        }
    }
    if (fd >= 0)
        close(fd);
    *range = line.range;
    return found;
}
