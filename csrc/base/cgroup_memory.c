#define _GNU_SOURCE
#include "base/cgroup_memory.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/kernel_io.h"
#include "base/path_room.h"
#include "base/whole_file.h"

#define LEVELS 16
#define LEVEL_BYTES 1024
#define UNLIMITED (UINT64_MAX / 4) /* version 1 writes the largest number of pages */

/* Files of a group. Source: cgroup-v1/memory.rst and cgroup-v2.rst of the kernel's documentation. */
struct version {
    const char *limits[2], *usage, *cache[2];
};

static const struct version versions[] = {
    {{"memory.limit_in_bytes", NULL},
     "memory.usage_in_bytes",
     {"\ntotal_inactive_file ", "\ntotal_active_file "}},
    {{"memory.max", "memory.high"}, "memory.current", {"\ninactive_file ", "\nactive_file "}},
};

static struct level {
    const struct version *version;
    char folder[LEVEL_BYTES];
} levels[LEVELS]; /* that have a limit */
static int level_count;

/* Read a file of a group; return false if there is no such file, as in the outermost group. */
static bool read_file(const struct level *level, const char *name, char *text, size_t capacity)
{
    snprintf(text, capacity, "%s/%s", level->folder, name);
    int fd = open(text, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, text, capacity - 1);
    if (fd >= 0)
        close(fd);
    if (got <= 0)
        return false;
    tfd_kernel_io_exclude(got);
    text[got] = '\0';
    return true;
}

static uint64_t number_in(const struct level *level, const char *name, char *text, uint64_t otherwise)
{
    bool found = name && read_file(level, name, text, TFD_PATH_ROOM_BYTES) && *text >= '0' && *text <= '9';
    return found ? strtoull(text, NULL, 10) : otherwise;
}

static uint64_t limit_of(const struct level *level, char *text)
{
    uint64_t hard = number_in(level, level->version->limits[0], text, UINT64_MAX);
    uint64_t soft = number_in(level, level->version->limits[1], text, UINT64_MAX);
    return hard < soft ? hard : soft;
}

static uint64_t cache_of(const struct level *level, char *text)
{
    uint64_t bytes = 0;
    if (!read_file(level, "memory.stat", text, TFD_PATH_ROOM_BYTES))
        return 0;
    for (int i = 0; i < 2; i++) {
        const char *found = strstr(text, level->version->cache[i]);
        bytes += found ? strtoull(strrchr(level->version->cache[i], ' ') - level->version->cache[i] + found,
                                  NULL, 10)
                       : 0;
    }
    return bytes;
}

static uint64_t left_in(const struct level *level, char *text)
{
    uint64_t limit = limit_of(level, text), usage = number_in(level, level->version->usage, text, 0);
    if (limit >= UNLIMITED)
        return UINT64_MAX;
    uint64_t cache = cache_of(level, text), held = usage > cache ? usage - cache : 0;
    return limit > held ? limit - held : 0;
}

uint64_t tfd_cgroup_memory_left(void)
{
    uint64_t least = UINT64_MAX;
    char *text = level_count ? tfd_path_room_take() : NULL;
    for (int i = 0; i < level_count; i++) {
        uint64_t left = left_in(&levels[i], text);
        least = left < least ? left : least;
    }
    if (text)
        tfd_path_room_return(text);
    return least;
}

/* Add a group and those that enclose it, up to the mount point. */
static void add_levels(const struct version *version, const char *folder, size_t top_length)
{
    char *text = tfd_path_room_take();
    struct level *level = &levels[level_count];
    size_t length = strlen(folder);
    for (; length >= top_length && level_count < LEVELS && length < LEVEL_BYTES; length--) {
        level->version = version;
        snprintf(level->folder, sizeof level->folder, "%.*s", (int)length, folder);
        if (limit_of(level, text) < UNLIMITED)
            level = &levels[++level_count];
        while (length > top_length && folder[length - 1] != '/')
            length--;
    }
    tfd_path_room_return(text);
}

/* Return the part of a group's name that lies below the mount's own group, "" if the group lies elsewhere. */
static const char *below(const char *group, const char *mounted)
{
    size_t length = strcmp(mounted, "/") ? strlen(mounted) : 0;
    bool inside = !strncmp(group, mounted, length) && (group[length] == '/' || !group[length]);
    return inside && strncmp(group, "/..", 3) && strcmp(group + length, "/") ? group + length : "";
}

static bool lists(const char *names, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = names; (at = strstr(at, name)); at += length)
        if ((at == names || at[-1] == ',') && (at[length] == ',' || !at[length]))
            return true;
    return false;
}

/* Find the name of this process's group in `groups`, the text of /proc/self/cgroup. Each line is
 * NUMBER:CONTROLLERS:NAME. */
static bool own_group(const char *groups, bool second, char *name, size_t capacity)
{
    for (const char *line = groups; line && *line; line = strchr(line, '\n'), line += line != NULL) {
        char controllers[256] = "";
        int at = 0;
        if (sscanf(line, "%*[0-9]:%255[^:\n]%n", controllers, &at) < 1)
            sscanf(line, "%*[0-9]%n", &at);
        if (second ? *controllers || strncmp(line, "0::", 3) : !lists(controllers, "memory"))
            continue;
        const char *found = line + at + (second ? 2 : 1);
        snprintf(name, capacity, "%.*s", (int)strcspn(found, "\n"), found);
        return true;
    }
    return false;
}

/* A line of /proc/self/mountinfo, proc_pid_mountinfo(5). */
static void add_mount(char *line, const char *groups, const char *root)
{
    char mounted[LEVEL_BYTES], point[LEVEL_BYTES], type[16], options[256], group[LEVEL_BYTES];
    char folder[3 * LEVEL_BYTES];
    const char *rest = strstr(line, " - ");
    if (!rest || sscanf(line, "%*d %*d %*s %1023s %1023s", mounted, point) < 2 ||
        sscanf(rest, " - %15s %*s %255s", type, options) < 2)
        return;
    bool second = !strcmp(type, "cgroup2");
    if (!second && (strcmp(type, "cgroup") || !lists(options, "memory")))
        return;
    if (!own_group(groups, second, group, sizeof group))
        return;
    snprintf(folder, sizeof folder, "%s%s%s", root, point, below(group, mounted));
    add_levels(&versions[second], folder, strlen(root) + strlen(point));
}

static char *read_process_file(const char *root, const char *name)
{
    char path[LEVEL_BYTES];
    snprintf(path, sizeof path, "%s/proc/self/%s", root, name);
    return tfd_read_whole(path);
}

void tfd_cgroups_find(const char *root)
{
    char *groups = read_process_file(root, "cgroup"), *mounts = read_process_file(root, "mountinfo"), *save;
    level_count = 0;
    if (groups && mounts)
        for (char *line = strtok_r(mounts, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
            add_mount(line, groups, root);
    free(groups);
    free(mounts);
}
