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

#define MOUNTS 8
#define NAME_BYTES 1024
#define FOLDER_BYTES (3 * NAME_BYTES)
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

/* This process's group below a mount point. The groups that enclose it, up to there, bound it too. Any of them may get or
 * lose a limit at any time, so all are asked each time. */
static struct place {
    const struct version *version;
    size_t top_length; /* of the mount point */
    char folder[FOLDER_BYTES];
} places[MOUNTS];
static int place_count;

struct group {
    const struct version *version;
    const char *folder;
    int length; /* the group's part of `folder` */
};

/* Read a file of a group; return false if there is no such file, as in the outermost group. */
static bool read_file(const struct group *group, const char *name, char *text, size_t capacity)
{
    snprintf(text, capacity, "%.*s/%s", group->length, group->folder, name);
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

static uint64_t number_in(const struct group *group, const char *name, char *text, uint64_t otherwise)
{
    bool found = name && read_file(group, name, text, TFD_PATH_ROOM_BYTES) && *text >= '0' && *text <= '9';
    return found ? strtoull(text, NULL, 10) : otherwise;
}

static uint64_t limit_of(const struct group *group, char *text)
{
    uint64_t hard = number_in(group, group->version->limits[0], text, UINT64_MAX);
    uint64_t soft = number_in(group, group->version->limits[1], text, UINT64_MAX);
    return hard < soft ? hard : soft;
}

static uint64_t cache_of(const struct group *group, char *text)
{
    uint64_t bytes = 0;
    if (!read_file(group, "memory.stat", text, TFD_PATH_ROOM_BYTES))
        return 0;
    for (int i = 0; i < 2; i++) {
        const char *found = strstr(text, group->version->cache[i]);
        bytes += found ? strtoull(strrchr(group->version->cache[i], ' ') - group->version->cache[i] + found,
                                  NULL, 10)
                       : 0;
    }
    return bytes;
}

static uint64_t left_in(const struct group *group, char *text)
{
    uint64_t limit = limit_of(group, text);
    if (limit >= UNLIMITED)
        return UINT64_MAX;
    uint64_t usage = number_in(group, group->version->usage, text, 0);
    uint64_t cache = cache_of(group, text), held = usage > cache ? usage - cache : 0;
    return limit > held ? limit - held : 0;
}

static uint64_t least_left(const struct place *place, char *text)
{
    struct group group = {place->version, place->folder, (int)strlen(place->folder)};
    int top = (int)place->top_length;
    uint64_t least = UINT64_MAX;
    for (; group.length >= top; group.length--) {
        uint64_t left = left_in(&group, text);
        least = left < least ? left : least;
        while (group.length > top && group.folder[group.length - 1] != '/')
            group.length--;
    }
    return least;
}

uint64_t tfd_cgroup_memory_left(void)
{
    uint64_t least = UINT64_MAX;
    char *text = place_count ? tfd_path_room_take() : NULL;
    for (int i = 0; i < place_count; i++) {
        uint64_t left = least_left(&places[i], text);
        least = left < least ? left : least;
    }
    if (text)
        tfd_path_room_return(text);
    return least;
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
    char mounted[NAME_BYTES], point[NAME_BYTES], type[16], options[256], group[NAME_BYTES];
    const char *rest = strstr(line, " - ");
    if (!rest || sscanf(line, "%*d %*d %*s %1023s %1023s", mounted, point) < 2 ||
        sscanf(rest, " - %15s %*s %255s", type, options) < 2)
        return;
    bool second = !strcmp(type, "cgroup2");
    if (!second && (strcmp(type, "cgroup") || !lists(options, "memory")))
        return;
    if (place_count == MOUNTS || !own_group(groups, second, group, sizeof group))
        return;
    struct place *place = &places[place_count++];
    place->version = &versions[second];
    place->top_length = strlen(root) + strlen(point);
    snprintf(place->folder, sizeof place->folder, "%s%s%s", root, point, below(group, mounted));
}

static char *read_process_file(const char *root, const char *name)
{
    char path[NAME_BYTES];
    snprintf(path, sizeof path, "%s/proc/self/%s", root, name);
    return tfd_read_whole(path);
}

void tfd_cgroups_find(const char *root)
{
    char *groups = read_process_file(root, "cgroup"), *mounts = read_process_file(root, "mountinfo"), *save;
    place_count = 0;
    if (groups && mounts)
        for (char *line = strtok_r(mounts, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
            add_mount(line, groups, root);
    free(groups);
    free(mounts);
}
