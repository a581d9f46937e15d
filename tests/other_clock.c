/* Gives a process clocks of its own: CLOCK_REALTIME and CLOCK_MONOTONIC ahead of the machine's by a fixed time, the
 * latter also drifting, as the clocks of another host are and do. For LD_PRELOAD. Waits until a moment of CLOCK_MONOTONIC last longer by as much as it is
 * ahead. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000LL

static long long ahead_ns(const char *name)
{
    const char *text = getenv(name);
    return text ? atoll(text) : 0;
}

static void move(struct timespec *time, long long by_ns)
{
    long long ns = (long long)time->tv_sec * NS_PER_S + time->tv_nsec + by_ns;
    time->tv_sec = (time_t)(ns / NS_PER_S);
    time->tv_nsec = (long)(ns % NS_PER_S);
}

/* Since a moment that is the same for all hosts. */
static long long drifted_ns(const struct timespec *now)
{
    long long since_ns = (long long)now->tv_sec * NS_PER_S + now->tv_nsec - ahead_ns("CLOCK_DRIFT_SINCE_NS");
    return since_ns / 1000000 * ahead_ns("CLOCK_DRIFT_PPM");
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    long status = syscall(SYS_clock_gettime, clock, time);
    if (!status && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        move(time, ahead_ns("CLOCK_REALTIME_AHEAD_NS"));
    else if (!status &&
             (clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_COARSE || clock == CLOCK_BOOTTIME))
        move(time, ahead_ns("CLOCK_MONOTONIC_AHEAD_NS") + drifted_ns(time));
    return (int)status;
}
