/* A signal handler forks, and the child goes on where the signal came. That may be inside the recorder, whose memory
 * the child does not have. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>

#include "children.h"

static char path[PATH_MAX];
static _Atomic bool stopping;
static volatile sig_atomic_t is_child;
static _Atomic long forks;

static void fork_in_handler(int signal)
{
    (void)signal;
    int saved_errno = errno;
    pid_t pid = is_child ? 0 : fork();
    is_child = !pid;
    if (pid > 0) {
        CHECK_EQUAL(child_wait(pid), 0);
        atomic_fetch_add(&forks, 1);
    }
    errno = saved_errno;
}

static void *read_all_the_time(void *unused)
{
    char byte;
    int fd = open(path, O_RDONLY);
    CHECK(fd >= 0);
    while (!atomic_load(&stopping)) {
        CHECK(pread(fd, &byte, 1, 0) == 1);
        if (is_child)
            _exit(0);
    }
    CHECK(close(fd) == 0);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t reader;
    CHECK(argc >= 2);
    long wanted = check_repeats(argc, argv, 1000);
    check_make_file(path, argv[1], "data", 1);
    struct sigaction action = {.sa_handler = fork_in_handler};
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    struct tfd_options options = check_options(argv[1]);
    options.capacity_bytes = 1u << 30;
    options.trace_limit_bytes = 900u << 20;
    check_start_with(&options);
    CHECK(pthread_create(&reader, NULL, read_all_the_time, NULL) == 0);
    for (long done = 0; done < wanted;) {
        CHECK(pthread_kill(reader, SIGUSR1) == 0);
        while (atomic_load(&forks) == done)
            child_pause();
        done = atomic_load(&forks);
    }
    atomic_store(&stopping, true);
    CHECK(pthread_join(reader, NULL) == 0);
    check_stop();
    return 0;
}
