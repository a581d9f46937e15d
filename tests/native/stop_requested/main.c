/* The session's owner stops while its children run. They end their recording soon, and go on working. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>

#include "children.h"
#include "recorded.h"

#define CHILDREN 3

static char path[PATH_MAX];
static _Atomic int *told; /* shared with the children */

static void work_until(int stage)
{
    char bytes[100];
    while (atomic_load(told) < stage) {
        int fd = open(path, O_RDONLY);
        CHECK(fd >= 0 && pread(fd, bytes, sizeof bytes, 0) == sizeof bytes && close(fd) == 0);
        child_pause();
    }
}

static void be_child(void)
{
    work_until(1);
    work_until(2);
    _exit(tfd_session_active());
}

static int64_t events_of(const char *directory, pid_t pid, uint32_t *state)
{
    struct tfd_spool spool = recorded_open(directory, pid);
    int64_t events = recorded_tally(&spool, path, -1).calls;
    *state = atomic_load(&spool.header->state);
    recorded_close(&spool);
    return events;
}

static void wait_until_stopped(const char *directory, pid_t pid)
{
    int64_t deadline_ns = child_now_ns() + CHILD_WAIT_S * 1000000000ll;
    uint32_t state = TFD_SPOOL_RECORDING;
    while (events_of(directory, pid, &state) < 1 || state != TFD_SPOOL_STOPPED) {
        CHECK(child_now_ns() < deadline_ns);
        child_pause();
    }
}

/* A child that is only starting when its owner stops gives up. */
static void wait_until_recording(const char *directory, pid_t pid)
{
    uint32_t state = 0;
    while (!recorded_begun(directory, pid))
        child_pause();
    while (events_of(directory, pid, &state) < 3)
        child_pause();
    CHECK_EQUAL(state, TFD_SPOOL_RECORDING);
}

/* A child that makes its first call when the session is over leaves nothing behind. */
static void check_late_child(const char *directory)
{
    char bytes[10];
    check_start(directory);
    pid_t pid = child_fork();
    if (!pid) {
        while (atomic_load(told) < 3)
            child_pause();
        int fd = open(path, O_RDONLY);
        CHECK(fd >= 0 && read(fd, bytes, sizeof bytes) == sizeof bytes && close(fd) == 0);
        _exit(tfd_session_active());
    }
    check_stop();
    atomic_store(told, 3);
    CHECK_EQUAL(child_wait(pid), 0);
    CHECK(!recorded_exists(directory, pid));
}

/* A child ends its recording in a call of its own. What fails then is no error of that call. */
static void check_errno_is_kept(const char *directory)
{
    check_drop_spool(directory, getpid());
    check_start(directory);
    pid_t pid = child_fork();
    if (!pid) {
        char byte;
        int fd = open(path, O_RDONLY), last = fd;
        CHECK(fd >= 0 && pread(fd, &byte, 1, 0) == 1);
        CHECK(setrlimit(RLIMIT_NOFILE, &(struct rlimit){64, 64}) == 0);
        for (int copy = fd; copy >= 0; copy = dup(fd))
            last = copy;
        CHECK(close(last) == 0);
        atomic_store(told, 4);
        while (atomic_load(told) < 5)
            child_pause();
        errno = EXDEV;
        CHECK_EQUAL(open(path, O_RDONLY), last);
        CHECK_EQUAL(errno, EXDEV);
        _exit(tfd_session_active());
    }
    while (atomic_load(told) < 4)
        child_pause();
    check_stop();
    atomic_store(told, 5);
    CHECK_EQUAL(child_wait(pid), 0);
}

int main(int argc, char **argv)
{
    CHECK(argc >= 2);
    pid_t children[CHILDREN];
    int64_t events[CHILDREN];
    uint32_t state;
    told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(told != MAP_FAILED);
    check_make_file(path, argv[1], "data", 1000);
    check_start(argv[1]);
    for (int i = 0; i < CHILDREN; i++) {
        children[i] = child_fork();
        if (!children[i])
            be_child();
    }
    for (int i = 0; i < CHILDREN; i++)
        wait_until_recording(argv[1], children[i]);
    atomic_store(told, 1);
    child_pause();
    check_stop();
    for (int i = 0; i < CHILDREN; i++) {
        wait_until_stopped(argv[1], children[i]);
        events[i] = events_of(argv[1], children[i], &state);
    }
    atomic_store(told, 2);
    for (int i = 0; i < CHILDREN; i++) {
        CHECK_EQUAL(child_wait(children[i]), 0);
        CHECK_EQUAL(events_of(argv[1], children[i], &state), events[i]);
    }
    check_drop_spool(argv[1], getpid());
    check_late_child(argv[1]);
    check_errno_is_kept(argv[1]);
    return 0;
}
