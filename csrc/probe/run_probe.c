#define _GNU_SOURCE
#include "probe/probe_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static const struct probe *const tables[] = {
    tfd_open_probes,   tfd_transfer_probes,    tfd_path_probes,         tfd_process_probes,
    tfd_stream_probes, tfd_stream_read_probes, tfd_stream_write_probes, tfd_standard_probes,
    tfd_wide_probes,   tfd_aio_probes,
};

static struct probe_files files;
static struct tfd_probe_outcome last;

static const struct probe *probe_at(size_t index)
{
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const struct probe *probe = tables[t]; probe->symbol; probe++)
            if (!index--)
                return probe;
    return NULL;
}

size_t tfd_probe_count(void)
{
    size_t count = 0;
    while (probe_at(count))
        count++;
    return count;
}

const char *tfd_probe_symbol(size_t probe)
{
    return probe_at(probe)->symbol;
}

int tfd_probe_linked(size_t probe)
{
    return probe_at(probe)->function != NULL;
}

size_t tfd_probe_events(size_t probe, struct tfd_probe_event *events, size_t capacity)
{
    const struct tfd_probe_event *expected = probe_at(probe)->events;
    size_t count = 0;
    for (; count < 2 && expected[count].operation; count++)
        if (count < capacity)
            events[count] = expected[count];
    return count;
}

static bool make_file(const char *path)
{
    int fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);
    bool made = fd >= 0 && write(fd, TFD_PROBE_LINE, TFD_PROBE_LINE_BYTES) == TFD_PROBE_LINE_BYTES &&
                !ftruncate(fd, TFD_PROBE_FILE_BYTES);
    if (fd >= 0)
        close(fd);
    return made;
}

static int highest_descriptor(int fd)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur < 64)
        return -1;
    rlim_t highest = limit.rlim_cur < 1u << 16 ? limit.rlim_cur : 1u << 16;
    return fcntl(fd, F_DUPFD_CLOEXEC, (int)highest - 1);
}

static void name_files(const char *symbol, const char *directory)
{
    static const char *const endings[] = {"", ".other", ".new"};
    files = (struct probe_files){.fd = {-1, -1}, .pipe = {-1, -1}, .high_fd = -1, .made_fd = -1};
    last = (struct tfd_probe_outcome){0};
    for (size_t i = 0; i < 3; i++)
        snprintf(files.path[i], sizeof files.path[i], "%s/%s%s", directory, symbol, endings[i]);
    snprintf(files.template, sizeof files.template, "%s/%s.XXXXXX", directory, symbol);
    files.mapping = MAP_FAILED;
    files.vector = (struct iovec){files.buffer, TFD_PROBE_TRANSFER_BYTES};
}

static bool open_files(const char *directory)
{
    if (!make_file(files.path[0]) || !make_file(files.path[1]))
        return false;
    files.fd[0] = open(files.path[0], O_RDWR | O_CLOEXEC);
    files.fd[1] = open(files.path[1], O_RDWR | O_CLOEXEC);
    files.stream = fopen(files.path[0], "r+e");
    files.folder = opendir(directory);
    files.child = popen("true", "r");
    files.high_fd = highest_descriptor(files.fd[0]);
    return files.fd[0] >= 0 && files.fd[1] >= 0 && files.stream && files.folder && files.child &&
           !pipe2(files.pipe, O_CLOEXEC) && !fseek(files.stream, 50, SEEK_SET) &&
           !fgetpos(files.stream, &files.position) && !fseek(files.stream, 0, SEEK_SET);
}

static void close_descriptor(int fd)
{
    if (fd >= 0)
        close(fd);
}

static void close_files(void)
{
    if (files.mapping != MAP_FAILED)
        munmap(files.mapping, TFD_PROBE_FILE_BYTES);
    if (files.made_stream)
        fclose(files.made_stream);
    if (files.stream)
        fclose(files.stream);
    if (files.folder)
        closedir(files.folder);
    if (files.child)
        pclose(files.child);
    const int descriptors[] = {files.fd[0],   files.fd[1],   files.pipe[0],
                               files.pipe[1], files.high_fd, files.made_fd};
    for (size_t i = 0; i < sizeof descriptors / sizeof *descriptors; i++)
        close_descriptor(descriptors[i]);
    free(files.line);
    for (size_t i = 0; i < 3; i++)
        unlink(files.path[i]);
}

int tfd_probe_begin(size_t probe, const char *directory)
{
    name_files(probe_at(probe)->symbol, directory);
    if (open_files(directory))
        return 0;
    int error = errno ? errno : EIO;
    close_files();
    return -error;
}

void tfd_probe_call(size_t probe)
{
    const struct probe *row = probe_at(probe);
    errno = TFD_PROBE_ERRNO_BEFORE;
    last.ok = row->call(&files);
    last.error = errno;
}

/* Return true if a file that the call made with a mode has that mode, apart from the process's mask. */
static bool has_mode_asked_for(const struct tfd_probe_event *expected)
{
    struct stat status;
    if (files.made_fd < 0 || strcmp(expected->operation, "open") || !expected->offset)
        return true;
    mode_t mask = umask(0);
    umask(mask);
    return !fstat(files.made_fd, &status) && (status.st_mode & 0777) == ((mode_t)expected->offset & ~mask);
}

int tfd_probe_end(size_t probe, struct tfd_probe_outcome *outcome)
{
    const struct tfd_probe_event *expected = probe_at(probe)->events;
    if (expected->operation && !has_mode_asked_for(expected))
        last.ok = 0;
    memcpy(last.path, files.path, sizeof last.path);
    *outcome = last;
    close_files();
    return 0;
}
