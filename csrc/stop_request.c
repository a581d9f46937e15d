#define _GNU_SOURCE
#include "stop_request.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "spool.h"

static bool is_spool(const char *name)
{
    size_t length = strlen(name), suffix = strlen(".spool");
    return length > suffix && !strcmp(name + length - suffix, ".spool");
}

static void ask(struct tfd_spool_header *header, int32_t own_pid)
{
    if (!memcmp(header->magic, TFD_SPOOL_MAGIC, sizeof header->magic) &&
        header->version == TFD_SPOOL_VERSION && header->pid != own_pid &&
        atomic_load(&header->state) == TFD_SPOOL_RECORDING)
        atomic_store(&header->stop_requested, 1);
}

static void ask_spool(int folder, const char *name, int32_t own_pid)
{
    struct stat status;
    int fd = openat(folder, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return;
    if (!fstat(fd, &status) && status.st_size >= (off_t)sizeof(struct tfd_spool_header)) {
        struct tfd_spool_header *header =
            mmap(NULL, sizeof *header, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (header != MAP_FAILED) {
            ask(header, own_pid);
            munmap(header, sizeof *header);
        }
    }
    close(fd);
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
