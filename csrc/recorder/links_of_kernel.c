#define _GNU_SOURCE
#include "recorder/links_of_kernel.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "spool/spool.h"

#define MOST_LINKS 8 /* in a chain: /dev/stdin, /proc/self/fd/0, /proc/self, and links of the job */

static char target[PATH_MAX]; /* caller holds tfd_tables_lock */

static bool is_of_kernel(const char *path)
{
    return !strncmp(path, "/proc/", 6) || !strncmp(path, "/dev/", 5);
}

/* Return the length of the leading part that is a link, 0 if there is none. */
static size_t leading_link(char *path, size_t *target_length)
{
    for (char *end = strchr(path + 1, '/'); end; end = end[0] ? strchrnul(end + 1, '/') : NULL) {
        char next = *end;
        *end = '\0';
        ssize_t got = readlink(path, target, sizeof target - 1);
        *end = next;
        if (got > 0) {
            target[got] = '\0';
            *target_length = (size_t)got;
            return (size_t)(end - path);
        }
    }
    return 0;
}

/* The kernel appends " (deleted)" to the name of a file that has no name any more. */
static size_t without_deleted(size_t length)
{
    static const char deleted[] = " (deleted)";
    size_t suffix = sizeof deleted - 1;
    struct stat status;
    bool says_so = length > suffix && !memcmp(target + length - suffix, deleted, suffix);
    return says_so && lstat(target, &status) ? length - suffix : length;
}

/* Replace a link by its target; return the new length, 0 if it is too long. */
static size_t replace(char *path, size_t length, size_t room, size_t link, size_t target_length)
{
    size_t kept = 0;
    if (target[0] == '/') /* the target of /proc/self/root adds nothing */
        target_length = target_length == 1 ? 0 : without_deleted(target_length);
    else
        for (kept = link; kept && path[kept - 1] != '/';)
            kept--;
    size_t rest = length - link;
    if (kept + target_length + rest + 1 > room)
        return 0;
    memmove(path + kept + target_length, path + link, rest + 1);
    memcpy(path + kept, target, target_length);
    return kept + target_length + rest;
}

size_t tfd_follow_links_of_kernel(char *path, size_t length, size_t room)
{
    size_t target_length = 0;
    if (!is_of_kernel(path))
        return 0;
    for (int links = 0; length && is_of_kernel(path); links++) {
        size_t link = links < MOST_LINKS ? leading_link(path, &target_length) : 0;
        if (!link)
            return 0;
        length = replace(path, length, room, link, target_length);
    }
    return length;
}
