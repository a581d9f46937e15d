#define _GNU_SOURCE
#include "base/process_identity.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/kernel_io.h"

#define STATE_FIELD 3
#define PARENT_FIELD 4
#define START_FIELD 22

/* Field `wanted` of /proc/<pid>/stat, from the third on; 0: there is no such process, or it has ended. */
static uint64_t stat_field(int32_t pid, int wanted)
{
    char path[32], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    if (length <= 0)
        return 0;
    tfd_kernel_io_exclude(length);
    text[length] = '\0';
    /* The second field is the program's name in brackets, and may hold anything. */
    const char *field = strrchr(text, ')');
    for (int number = STATE_FIELD - 1; field && number < wanted; number++) {
        field = strchr(field + 1, ' ');
        if (field && number == STATE_FIELD - 1 && (field[1] == 'Z' || field[1] == 'X'))
            return 0;
    }
    return field ? strtoull(field + 1, NULL, 10) : 0;
}

uint64_t tfd_process_start(int32_t pid)
{
    return stat_field(pid, START_FIELD);
}

int32_t tfd_process_parent(int32_t pid)
{
    return (int32_t)stat_field(pid, PARENT_FIELD);
}

uint64_t tfd_own_pid_namespace(void)
{
    struct stat status;
    return stat("/proc/self/ns/pid", &status) ? 0 : (uint64_t)status.st_ino;
}

/* A folder has a link of its own, one from its parent, and one from each folder in it: one for each thread. */
bool tfd_has_one_thread(void)
{
    struct stat status;
    return !stat("/proc/self/task", &status) && status.st_nlink == 3;
}
