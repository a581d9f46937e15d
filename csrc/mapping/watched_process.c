#define _GNU_SOURCE
#include "mapping/watched_process.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/kernel_io.h"

/* Return the number behind `name` in the text of /proc/pid/status, proc(5), which has a line for each field; -1 if
 * it is missing. */
static long field_of(const char *text, const char *name)
{
    const char *found = strstr(text, name);
    return found ? atol(found + strlen(name)) : -1;
}

bool tfd_may_add_thread(void)
{
    char text[4096];
    int saved_errno = errno, fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    tfd_kernel_io_exclude(length > 0 ? length : 0);
    if (fd >= 0)
        close(fd);
    errno = saved_errno;
    text[length > 0 ? length : 0] = '\0';
    return field_of(text, "\nThreads:\t") > 1 && field_of(text, "\nSeccomp:\t") == 0;
}

bool tfd_is_in_memory(const struct statfs *where)
{
    return (long)where->f_type == TMPFS_MAGIC || (long)where->f_type == HUGETLBFS_MAGIC;
}
