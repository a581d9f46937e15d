#define _GNU_SOURCE
#include "emulation/emulated_paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/glob_match.h"
#include "recorder/path_filter.h"

static char **patterns;
static size_t pattern_count;

static void free_patterns(void)
{
    for (size_t i = 0; i < pattern_count; i++)
        free(patterns[i]);
    free(patterns);
    patterns = NULL;
    pattern_count = 0;
}

int tfd_emulated_paths_set(const char *const *paths, size_t count)
{
    free_patterns();
    patterns = calloc(count ? count : 1, sizeof *patterns);
    for (; patterns && pattern_count < count; pattern_count++)
        if (!(patterns[pattern_count] = strdup(paths[pattern_count])))
            break;
    if (!patterns || pattern_count < count)
        return tfd_fail(ENOMEM, "no memory for the paths of the emulated storage");
    return 0;
}

/* Without patterns every recorded path is emulated. */
bool tfd_is_emulated_path(const char *path, size_t length)
{
    if (!pattern_count)
        return tfd_path_wanted(path, length, NULL);
    for (size_t i = 0; i < pattern_count; i++)
        if (tfd_glob_matches(patterns[i], path))
            return true;
    return false;
}

size_t tfd_emulated_paths_bytes(void)
{
    size_t bytes = 0;
    for (size_t i = 0; i < pattern_count; i++)
        bytes += strlen(patterns[i]) + 1;
    return bytes;
}

int tfd_emulated_paths_write(int fd, off_t at)
{
    for (size_t i = 0; i < pattern_count; i++) {
        size_t bytes = strlen(patterns[i]) + 1;
        if (pwrite(fd, patterns[i], bytes, at) != (ssize_t)bytes)
            return -EIO;
        at += (off_t)bytes;
    }
    return 0;
}

/* Take patterns from texts that end with a NUL each. */
static int take_patterns(const char *texts, size_t bytes)
{
    size_t count = 0, found = 0;
    for (size_t i = 0; i < bytes; i++)
        count += !texts[i];
    const char **paths = calloc(count + 1, sizeof *paths);
    if (!paths)
        return tfd_fail(ENOMEM, "no memory for the paths of the emulated storage");
    for (const char *text = texts; found < count; text += strlen(text) + 1)
        paths[found++] = text;
    int status = tfd_emulated_paths_set(paths, count);
    free(paths);
    return status;
}

int tfd_emulated_paths_read(int fd, off_t at, size_t bytes)
{
    char *texts = malloc(bytes + 1);
    int status = texts && pread(fd, texts, bytes, at) == (ssize_t)bytes
                     ? take_patterns(texts, bytes)
                     : tfd_fail(EIO, "the paths of the emulated storage cannot be read");
    free(texts);
    return status;
}
