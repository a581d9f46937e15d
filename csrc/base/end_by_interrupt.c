#define _GNU_SOURCE
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "tfdarshan.h"

static pid_t interrupted;

static void end_by_interrupt(void)
{
    sigset_t interrupt;
    if (getpid() != interrupted) /* a child forked since */
        return;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    signal(SIGINT, SIG_DFL);
    sigprocmask(SIG_UNBLOCK, &interrupt, NULL);
    kill(getpid(), SIGINT);
}

/* The function that is registered last is called first, so the process ends here before other exit handlers run, as
 * Python itself does. */
int tfd_end_by_interrupt(void)
{
    static bool registered;
    interrupted = getpid();
    if (!registered && atexit(end_by_interrupt))
        return -1;
    registered = true;
    return 0;
}
