#define _GNU_SOURCE
#include "job/program_list.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "job/join_offer.h"
#include "spool/spool.h"

#define MOST_NOTED_BYTES (256u << 10)

static size_t end_line(char line[TFD_NOTE_BYTES], int length)
{
    size_t bytes = length < TFD_NOTE_BYTES - 1 ? (size_t)length : TFD_NOTE_BYTES - 2;
    for (size_t i = 0; i < bytes; i++)
        if (line[i] == '\n')
            line[i] = '?';
    line[bytes] = '\n';
    return bytes + 1;
}

/* A write beyond the limit of file sizes would raise a signal that ends the process. */
static bool has_room(int fd, size_t bytes)
{
    struct stat status;
    struct rlimit limit;
    if (fstat(fd, &status) || getrlimit(RLIMIT_FSIZE, &limit))
        return false;
    rlim_t end = (rlim_t)status.st_size + bytes;
    return end <= MOST_NOTED_BYTES && end <= limit.rlim_cur;
}

/* One write that appends, so that lines of several processes stay whole. */
int64_t tfd_program_list_add(const char *spool_directory, char line[TFD_NOTE_BYTES], int length)
{
    char list[TFD_SPOOL_PATH_MAX];
    int saved_errno = errno;
    size_t bytes = end_line(line, length);
    if (snprintf(list, sizeof list, "%s/" TFD_JOIN_UNSEEN_NAME, spool_directory) >= (int)sizeof list)
        return 0;
    int fd = open(list, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
    ssize_t written = fd >= 0 && has_room(fd, bytes) ? write(fd, line, bytes) : 0;
    if (fd >= 0)
        close(fd);
    errno = saved_errno;
    return written > 0 ? written : 0;
}
