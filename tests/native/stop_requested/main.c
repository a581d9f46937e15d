/* The session's owner stops while its children go on: they end their recording soon, and go on working. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>

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
    bool recorded_until_then = tfd_session_active();
    work_until(2);
    _exit(recorded_until_then && !tfd_session_active() ? 0 : 1);
}

static uint32_t state_of(const char *directory, pid_t pid)
{
    struct tfd_spool spool = recorded_open(directory, pid);
    uint32_t state = atomic_load(&spool.header->state);
    recorded_close(&spool);
    return state;
}

int main(int argc, char **argv)
{
    CHECK(argc >= 2);
    pid_t children[CHILDREN];
    told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(told != MAP_FAILED);
    check_make_file(path, argv[1], "data", 1000);
    check_start(argv[1]);
    for (int i = 0; i < CHILDREN; i++) {
        children[i] = fork();
        CHECK(children[i] >= 0);
        if (!children[i])
            be_child();
    }
    for (int i = 0; i < 100; i++)
        child_pause();
    atomic_store(told, 1);
    for (int i = 0; i < 10; i++)
        child_pause();
    check_stop();
    for (int i = 0; i < 100; i++)
        child_pause();
    int64_t events[CHILDREN];
    for (int i = 0; i < CHILDREN; i++) {
        CHECK_EQUAL(state_of(argv[1], children[i]), TFD_SPOOL_STOPPED);
        struct tfd_spool spool = recorded_open(argv[1], children[i]);
        events[i] = recorded_tally(&spool, NULL, -1).calls;
        recorded_close(&spool);
        CHECK(events[i] > 0);
    }
    atomic_store(told, 2);
    for (int i = 0; i < CHILDREN; i++) {
        CHECK_EQUAL(child_wait(children[i]), 0);
        struct tfd_spool spool = recorded_open(argv[1], children[i]);
        CHECK_EQUAL(recorded_tally(&spool, NULL, -1).calls, events[i]);
        recorded_close(&spool);
    }
    return 0;
}
