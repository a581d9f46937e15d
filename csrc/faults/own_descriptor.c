#define _GNU_SOURCE
#include "faults/own_descriptor.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

static bool may_be_opened(const char *path)
{
    static const long local[] = {0xef53,     0x58465342, 0x9123683e, 0x01021994,
                                 0x794c7630, 0xf2f52010, 0x2fc12fc1};
    struct statfs found;
    if (statfs(path, &found))
        return false;
    for (size_t i = 0; i < sizeof local / sizeof *local; i++)
        if ((long)found.f_type == local[i])
            return true;
    return false;
}

static bool is_same_file(const struct tfd_mapped_file *file, const struct stat *status)
{
    return S_ISREG(status->st_mode) && status->st_dev == file->device && status->st_ino == file->inode;
}

/* Return a descriptor that reads the file. If its name or number means another file by now, close it and return -1. Calls
 * on descriptor -1 fail. */
static int checked(const struct tfd_mapped_file *file, int fd)
{
    struct stat status;
    if (!fstat(fd, &status) && is_same_file(file, &status) && (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY)
        return fd;
    close(fd);
    return -1;
}

static int open_file(const struct tfd_mapped_file *file, const char *path)
{
    struct stat status;
    if (stat(path, &status) || !is_same_file(file, &status))
        return -1;
    return checked(file, open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
}

int tfd_own_descriptor_by_path(const struct tfd_spool *spool, const struct tfd_mapped_file *file)
{
    char path[PATH_MAX];
    const struct tfd_file *named = tfd_file_at(spool, file->file);
    if (file->file < TFD_FIRST_FILE || named->path_length >= sizeof path)
        return -1;
    memcpy(path, tfd_at(spool, named->path), named->path_length);
    path[named->path_length] = '\0';
    return may_be_opened(path) ? open_file(file, path) : -1;
}

/* A copy keeps locks of the open file (flock) after the program closes its own. So this copies only if another open may
 * drop cached pages, and only descriptors that are open for reading. */
static int copy_of_descriptor(const struct tfd_mapped_file *file, int fd)
{
    int process = (int)syscall(SYS_pidfd_open, getpid(), 0);
    int copy = (int)syscall(SYS_pidfd_getfd, process, fd, 0);
    close(process);
    return checked(file, copy);
}

int tfd_own_descriptor_like(const struct tfd_mapped_file *file, int32_t tid, int fd)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/fd/%d", (int)tid, fd);
    return may_be_opened(path) ? open_file(file, path) : copy_of_descriptor(file, fd);
}
