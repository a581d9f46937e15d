#define _GNU_SOURCE
#include "spool/stop_request.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_spool(const char *name)
{
    size_t length = strlen(name), suffix = strlen(".spool");
    return length > suffix && !strcmp(name + length - suffix, ".spool");
}

/* A child that is still starting has an empty header. */
static bool may_be_asked(const struct tfd_spool_header *header, int32_t own_pid)
{
    static const char empty[sizeof header->magic];
    bool published = !memcmp(header->magic, TFD_SPOOL_MAGIC, sizeof header->magic);
    return header->pid != own_pid && atomic_load(&header->state) != TFD_SPOOL_STOPPED &&
           (published ? header->version == TFD_SPOOL_VERSION : !memcmp(header->magic, empty, sizeof empty));
}

struct tfd_spool_header *tfd_spool_header_map(int folder, const char *name)
{
    struct tfd_spool_header *header = MAP_FAILED;
    struct stat status;
    int fd = openat(folder, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return NULL;
    if (!fstat(fd, &status) && status.st_size >= (off_t)sizeof *header)
        header = mmap(NULL, sizeof *header, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return header == MAP_FAILED ? NULL : header;
}

static void ask_spool(int folder, const char *name, int32_t own_pid)
{
    struct tfd_spool_header *header = tfd_spool_header_map(folder, name);
    if (!header)
        return;
    if (may_be_asked(header, own_pid))
        atomic_store(&header->stop_requested, 1);
    munmap(header, sizeof *header);
}

bool tfd_has_stopped(const char *directory, int32_t pid)
{
    char path[TFD_SPOOL_PATH_MAX];
    snprintf(path, sizeof path, "%s/%d.spool", directory, (int)pid);
    struct tfd_spool_header *header = tfd_spool_header_map(AT_FDCWD, path);
    bool stopped = !header || atomic_load(&header->state) == TFD_SPOOL_STOPPED;
    if (header)
        munmap(header, sizeof *header);
    return stopped;
}

void tfd_request_stop(const char *directory, int32_t own_pid)
{
    DIR *folder = opendir(directory);
    if (!folder)
        return;
    for (const struct dirent *entry; (entry = readdir(folder));)
        if (is_spool(entry->d_name))
            ask_spool(dirfd(folder), entry->d_name, own_pid);
    closedir(folder);
}
