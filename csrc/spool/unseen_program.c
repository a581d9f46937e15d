#define _GNU_SOURCE
#include "spool/unseen_program.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "spool/join_offer.h"
#include "spool/spool.h"

#define MOST_NOTED_BYTES (256u << 10)
#define NOTE_BYTES 600

static size_t unseen_line(char line[NOTE_BYTES], enum tfd_program why, const char *path)
{
    int length = snprintf(line, NOTE_BYTES - 1, "%c %s", (char)why, path);
    size_t bytes = length < NOTE_BYTES - 1 ? (size_t)length : NOTE_BYTES - 2;
    for (size_t i = 0; i < bytes; i++)
        if (line[i] == '\n')
            line[i] = '?';
    line[bytes] = '\n';
    return bytes + 1;
}

/* One write that appends: lines of processes that do so at once stay whole. */
void tfd_note_unseen_program(const char *spool_directory, enum tfd_program why, const char *path)
{
    char list[TFD_SPOOL_PATH_MAX], line[NOTE_BYTES];
    struct stat status;
    int saved_errno = errno;
    if (snprintf(list, sizeof list, "%s/" TFD_JOIN_UNSEEN_NAME, spool_directory) >= (int)sizeof list)
        return;
    int fd = open(list, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
    size_t bytes = unseen_line(line, why, path);
    if (fd >= 0 && !fstat(fd, &status) && status.st_size + (off_t)bytes <= MOST_NOTED_BYTES &&
        write(fd, line, bytes) < 0)
        errno = saved_errno; /* nobody can be told */
    if (fd >= 0)
        close(fd);
    errno = saved_errno;
}

void tfd_note_unseen_self(const char *spool_directory, enum tfd_program why)
{
    char program[PATH_MAX];
    int saved_errno = errno;
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    errno = saved_errno;
    if (length <= 0)
        return;
    program[length] = '\0';
    tfd_note_unseen_program(spool_directory, why, program);
}
