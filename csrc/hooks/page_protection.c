#define _GNU_SOURCE
#include "hooks/page_protection.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/aio_mapping.h"
#include "base/error.h"
#include "base/whole_file.h"

static const char *parse_hex(const char *text, uintptr_t *value)
{
    *value = 0;
    for (;; text++) {
        unsigned digit = (unsigned char)*text;
        if (digit - '0' < 10)
            *value = *value << 4 | (digit - '0');
        else if (digit - 'a' < 6)
            *value = *value << 4 | (digit - 'a' + 10);
        else
            return text;
    }
}

/* Format: proc(5), /proc/pid/maps: start-end rwxp ... */
static const char *parse_line(const char *line, struct tfd_protected_range *range)
{
    line = parse_hex(line, &range->start);
    line = parse_hex(line + 1, &range->end);
    range->protection = (line[1] == 'r' ? PROT_READ : 0) | (line[2] == 'w' ? PROT_WRITE : 0) |
                        (line[3] == 'x' ? PROT_EXEC : 0);
    const char *end = strchr(line, '\n');
    return end ? end + 1 : line + strlen(line);
}

int tfd_protection_map_read(struct tfd_protection_map *map)
{
    *map = (struct tfd_protection_map){0};
    char *text = tfd_read_whole("/proc/self/maps");
    if (!text)
        return tfd_fail(EIO, "cannot read /proc/self/maps, so no page's protection could be put back");
    map->has_aio_context = strstr(text, TFD_AIO_MAPPING);
    size_t lines = 0;
    for (const char *c = text; *c; c++)
        lines += *c == '\n';
    map->ranges = calloc(lines + 1, sizeof *map->ranges);
    if (!map->ranges) {
        free(text);
        return tfd_fail(ENOMEM, "no memory for the list of mappings");
    }
    for (const char *line = text; *line && map->count <= lines;)
        line = parse_line(line, &map->ranges[map->count++]);
    free(text);
    return 0;
}

void tfd_protection_map_free(struct tfd_protection_map *map)
{
    free(map->ranges);
    *map = (struct tfd_protection_map){0};
}

int tfd_protection_at(const struct tfd_protection_map *map, uintptr_t address, uintptr_t *end)
{
    size_t low = 0, high = map->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct tfd_protected_range *range = &map->ranges[middle];
        if (address < range->start) {
            high = middle;
        } else if (address >= range->end) {
            low = middle + 1;
        } else {
            *end = range->end;
            return range->protection;
        }
    }
    return -1;
}
