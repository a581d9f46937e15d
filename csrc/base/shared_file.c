#define _GNU_SOURCE
#include "base/shared_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

struct name {
    char text[64];
};

static struct name partial(const char *name)
{
    struct name made;
    snprintf(made.text, sizeof made.text, "%s.partial", name);
    return made;
}

static int open_folder(const char *directory)
{
    int folder = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return folder < 0 ? -errno : folder;
}

static int make_room(int fd, size_t bytes)
{
    int error;
    do
        error = posix_fallocate(fd, 0, (off_t)bytes);
    while (error == EINTR);
    return error;
}

static int make_in(int folder, const char *name, size_t bytes)
{
    int fd = openat(folder, name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return -errno;
    int error = make_room(fd, bytes);
    if (!error)
        return fd;
    close(fd);
    unlinkat(folder, name, 0);
    return -error;
}

int tfd_shared_file_make(const char *directory, const char *name, size_t bytes)
{
    int folder = open_folder(directory);
    if (folder < 0)
        return folder;
    int fd = make_in(folder, partial(name).text, bytes);
    close(folder);
    return fd;
}

int tfd_shared_file_publish(const char *directory, const char *name)
{
    int folder = open_folder(directory);
    if (folder < 0)
        return folder;
    int status = renameat(folder, partial(name).text, folder, name) ? -errno : 0;
    if (status)
        unlinkat(folder, partial(name).text, 0);
    close(folder);
    return status;
}

void tfd_shared_file_remove(const char *directory, const char *name)
{
    int folder = open_folder(directory);
    if (folder < 0)
        return;
    unlinkat(folder, partial(name).text, 0);
    unlinkat(folder, name, 0);
    close(folder);
}

int tfd_shared_file_open(const char *directory, const char *name, size_t *bytes)
{
    struct stat status;
    int folder = open_folder(directory);
    if (folder < 0)
        return folder;
    int fd = openat(folder, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    int error = fd < 0 || fstat(fd, &status) ? errno : 0;
    close(folder);
    if (!error && !(S_ISREG(status.st_mode) && status.st_uid == geteuid()))
        error = EPERM;
    if (error && fd >= 0)
        close(fd);
    if (error)
        return -error;
    *bytes = (size_t)status.st_size;
    return fd;
}
