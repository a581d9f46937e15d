/* Waits for forked children. A child that hangs fails the test. */
#ifndef CHILDREN_H
#define CHILDREN_H

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "check.h"

#define CHILD_WAIT_S 60

static inline void child_pause(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
}

static inline int64_t child_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Fork a child that ends with its parent, also if a check fails. */
static inline pid_t child_fork(void)
{
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (!pid)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    return pid;
}

/* Return the child's wait status. */
static inline int child_wait(pid_t pid)
{
    int64_t deadline_ns = child_now_ns() + CHILD_WAIT_S * 1000000000ll;
    int status;
    for (;;) {
        pid_t ended = waitpid(pid, &status, WNOHANG);
        CHECK(ended >= 0);
        if (ended == pid)
            return status;
        if (child_now_ns() > deadline_ns) {
            fprintf(stderr, "child %d hangs\n", pid);
            kill(pid, SIGKILL);
            _exit(1);
        }
        child_pause();
    }
}

#endif
