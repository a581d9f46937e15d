#define _GNU_SOURCE
#include "base/process_identity.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/kernel_io.h"

#define STAT_BYTES 1024
#define STATE_FIELD 3
#define PARENT_FIELD 4
#define START_FIELD 22
#define MOST_GENERATIONS 64

/* Read a file of the format of /proc/<pid>/stat into `text`; return its third field and what follows, NULL if there is
 * no such file. */
static const char *read_state(const char *path, char text[STAT_BYTES])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, text, STAT_BYTES - 1);
    if (fd >= 0)
        close(fd);
    if (length <= 0)
        return NULL;
    tfd_kernel_io_exclude(length);
    text[length] = '\0';
    /* The second field is the program's name in brackets, which may hold any character. */
    const char *name_end = strrchr(text, ')');
    return name_end && name_end[1] == ' ' ? name_end + 2 : NULL;
}

/* Return field `wanted` of /proc/<pid>/stat; 0 if there is no such process or it has ended. */
static uint64_t stat_field(int32_t pid, int wanted)
{
    char path[32], text[STAT_BYTES];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    const char *field = read_state(path, text);
    if (field && (*field == 'Z' || *field == 'X'))
        return 0;
    for (int number = STATE_FIELD; field && number < wanted; number++) {
        field = strchr(field, ' ');
        field += field != NULL;
    }
    return field ? strtoull(field, NULL, 10) : 0;
}

uint64_t tfd_process_start(int32_t pid)
{
    return stat_field(pid, START_FIELD);
}

int32_t tfd_process_parent(int32_t pid)
{
    return (int32_t)stat_field(pid, PARENT_FIELD);
}

bool tfd_is_orphan_of(int32_t ancestor)
{
    int32_t pid = getppid();
    bool known = pid > 0;
    for (int i = 0; i < MOST_GENERATIONS && pid > 1 && pid != ancestor; i++)
        pid = tfd_process_parent(pid);
    return known && pid != ancestor;
}

bool tfd_ignores_children(void)
{
    struct sigaction action;
    return !sigaction(SIGCHLD, NULL, &action) &&
           (action.sa_handler == SIG_IGN || action.sa_flags & SA_NOCLDWAIT);
}

bool tfd_has_children(void)
{
    siginfo_t none;
    int saved_errno = errno;
    bool has = !waitid(P_ALL, 0, &none, WEXITED | WNOHANG | WNOWAIT);
    errno = saved_errno;
    return has;
}

uint64_t tfd_own_pid_namespace(void)
{
    struct stat status;
    return stat("/proc/self/ns/pid", &status) ? 0 : (uint64_t)status.st_ino;
}

bool tfd_thread_is_awake(int32_t tid)
{
    char path[48], text[STAT_BYTES];
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)tid);
    const char *state = read_state(path, text);
    return state && !strchr("SZX", *state);
}

/* A folder has one link of its own, one from its parent, and one from each folder in it. /proc/self/task has one folder
 * for each thread. */
bool tfd_has_one_thread(void)
{
    struct stat status;
    return !stat("/proc/self/task", &status) && status.st_nlink == 3;
}
