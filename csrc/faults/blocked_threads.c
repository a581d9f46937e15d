#define _GNU_SOURCE
#include "faults/blocked_threads.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/kernel_io.h"

#define MOST_THREADS 64u
#define CHOOSE_NS 40000000  /* time between two choices of the threads to sample */
#define SHARE 100           /* samples, and choices, each take 1/SHARE of the time at most */
#define SHORTEST_NS 1000000 /* time between two samples, at least */
#define LONGEST_NS 20000000 /* time between two samples, and what one sample stands for, at most */
#define UNMOVED_CHOICES 5   /* choices without a fault after which a thread is not sampled any more */

/* A thread that has had faults. */
static struct seen {
    int32_t tid;
    int stat, call; /* descriptors of its files in /proc */
    int unmoved;
    uint64_t faults;
} threads[MOST_THREADS];
static uint32_t thread_count;

/* Counts of faults of all threads when threads were last chosen. */
#define COUNTED_PLACES 4096u /* a power of two */
static struct {
    int32_t tid;
    uint64_t faults;
} counted[COUNTED_PLACES];
static int64_t last_look_ns, next_choice_ns;
static uint32_t random_state = 1;

static int open_of(int32_t tid, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/%s", (int)tid, name);
    return open(path, O_RDONLY | O_CLOEXEC);
}

static bool read_whole(int fd, char *text, size_t size)
{
    ssize_t length = pread(fd, text, size - 1, 0);
    tfd_kernel_io_exclude(length > 0 ? length : 0);
    text[length > 0 ? length : 0] = '\0';
    return length > 0;
}

/* Read fields 3, 10 and 12 of /proc/pid/stat, proc(5), behind the name, which may hold any character. */
static bool read_stat(int fd, char *state, uint64_t *faults)
{
    char text[1024];
    unsigned long minor, major;
    const char *end = read_whole(fd, text, sizeof text) ? strrchr(text, ')') : NULL;
    if (!end || sscanf(end + 1, " %c %*d %*d %*d %*d %*d %*u %lu %*u %lu", state, &minor, &major) != 3)
        return false;
    *faults = minor + major;
    return true;
}

/* /proc/pid/syscall, proc(5), says "-1" if a thread is blocked outside of a system call. */
static bool is_in_fault(const struct seen *thread)
{
    char text[256], state;
    uint64_t faults;
    return read_whole(thread->call, text, sizeof text) && !strncmp(text, "-1 ", 3) &&
           read_stat(thread->stat, &state, &faults) && state == 'D';
}

static void leave(struct seen *thread)
{
    close(thread->stat);
    close(thread->call);
    *thread = threads[--thread_count];
}

static void take_up(int32_t tid, uint64_t faults)
{
    struct seen thread = {
        .tid = tid, .stat = open_of(tid, "stat"), .call = open_of(tid, "syscall"), .faults = faults};
    if (thread_count < MOST_THREADS && thread.stat >= 0 && thread.call >= 0) {
        threads[thread_count++] = thread;
        return;
    }
    if (thread.stat >= 0)
        close(thread.stat);
    if (thread.call >= 0)
        close(thread.call);
}

static struct seen *seen_of(int32_t tid)
{
    for (uint32_t i = 0; i < thread_count; i++)
        if (threads[i].tid == tid)
            return &threads[i];
    return NULL;
}

/* Return true if a thread that is not sampled has had faults since the last choice. A new thread has. */
static bool has_moved(int32_t tid, uint64_t faults)
{
    uint32_t place = (uint32_t)tid * 2654435761u % COUNTED_PLACES;
    bool moved = counted[place].tid != tid || counted[place].faults != faults;
    counted[place].tid = tid;
    counted[place].faults = faults;
    return moved;
}

static void count_thread(int32_t tid, bool is_first)
{
    char state;
    uint64_t faults;
    int fd = open_of(tid, "stat");
    if (fd < 0)
        return;
    if (read_stat(fd, &state, &faults) && has_moved(tid, faults) && !is_first && !seen_of(tid))
        take_up(tid, faults);
    close(fd);
}

static void leave_unmoved(void)
{
    for (uint32_t i = 0; i < thread_count;) {
        char state;
        uint64_t faults;
        struct seen *thread = &threads[i];
        bool lives = read_stat(thread->stat, &state, &faults);
        thread->unmoved = lives && (faults != thread->faults || state == 'D') ? 0 : thread->unmoved + 1;
        thread->faults = lives ? faults : 0;
        if (!lives || thread->unmoved > UNMOVED_CHOICES)
            leave(thread);
        else
            i++;
    }
}

/* Choose the threads whose counts of faults moved; the first time, only count. */
static void choose_threads(bool is_first)
{
    int32_t own = (int32_t)syscall(SYS_gettid);
    leave_unmoved();
    DIR *tasks = opendir("/proc/self/task");
    for (const struct dirent *entry; tasks && (entry = readdir(tasks));) {
        int32_t tid = atoi(entry->d_name);
        if (tid > 0 && tid != own)
            count_thread(tid, is_first);
    }
    if (tasks)
        closedir(tasks);
}

static void choose(struct tfd_blocked *blocked, int64_t now_ns, int64_t faults)
{
    bool any = thread_count || faults != blocked->faults;
    if (!any || now_ns < next_choice_ns)
        return;
    int64_t before_ns = tfd_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    choose_threads(false);
    int64_t took_ns = tfd_clock_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns;
    blocked->faults = faults;
    next_choice_ns = now_ns + (took_ns * SHARE > CHOOSE_NS ? took_ns * SHARE : CHOOSE_NS);
}

static void look(struct tfd_blocked *blocked, int64_t since_ns)
{
    int64_t stands_for_ns = since_ns < LONGEST_NS ? since_ns : LONGEST_NS;
    uint32_t in_fault = 0;
    for (uint32_t i = 0; i < thread_count; i++)
        in_fault += is_in_fault(&threads[i]);
    blocked->wait_ns += in_fault * stands_for_ns;
    blocked->busy_ns += in_fault ? stands_for_ns : 0;
    blocked->looks++;
}

/* Random intervals: a fault that is as regular as the samples would be seen always or never. */
static int64_t spread(int64_t interval_ns)
{
    random_state = random_state * 1664525u + 1013904223u;
    return interval_ns / 2 + interval_ns * (int64_t)(random_state >> 16) / 65536;
}

int64_t tfd_blocked_threads_look(struct tfd_blocked *blocked, int64_t faults)
{
    int64_t now_ns = tfd_clock_ns(CLOCK_MONOTONIC), cpu_ns = tfd_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    choose(blocked, now_ns, faults);
    int64_t begin_ns = tfd_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    if (thread_count)
        look(blocked, now_ns - last_look_ns);
    last_look_ns = now_ns;
    int64_t end_ns = tfd_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    blocked->cost_ns += end_ns - cpu_ns;
    if (!thread_count)
        return LONGEST_NS;
    int64_t interval_ns = (end_ns - begin_ns) * SHARE / (int64_t)thread_count;
    return spread(interval_ns < SHORTEST_NS  ? SHORTEST_NS
                  : interval_ns > LONGEST_NS ? LONGEST_NS
                                             : interval_ns);
}

bool tfd_blocked_threads_begin(void)
{
    char text[256];
    int fd = open_of((int32_t)syscall(SYS_gettid), "syscall");
    bool is_shown = fd >= 0 && read_whole(fd, text, sizeof text);
    if (fd >= 0)
        close(fd);
    if (!is_shown)
        return false;
    memset(counted, 0, sizeof counted);
    last_look_ns = tfd_clock_ns(CLOCK_MONOTONIC);
    next_choice_ns = 0;
    choose_threads(true);
    return true;
}

void tfd_blocked_threads_end(void)
{
    while (thread_count)
        leave(&threads[0]);
}

void tfd_blocked_threads_reset_in_child(void)
{
    thread_count = 0;
}
