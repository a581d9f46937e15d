/* A signal handler forks while its thread forks. No lock stays held after either fork. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>

#include "children.h"

#define FORKS 5
#define MOST_NS 900000000 /* a lock that stays locked costs each fork a second; a busy machine some of them */

static volatile sig_atomic_t raises, handled;

/* The last of the handlers that prepare a fork runs first: ours lies within this one's fork. */
static void raise_in_fork(void)
{
    if (raises) {
        raises = 0;
        raise(SIGUSR1);
    }
}

static void fork_in_handler(int signal)
{
    (void)signal;
    pid_t pid = child_fork();
    if (!pid)
        _exit(0);
    CHECK_EQUAL(child_wait(pid), 0);
    handled = 1;
}

static void fork_once(void)
{
    pid_t pid = child_fork();
    if (!pid) {
        CHECK(dlsym(RTLD_DEFAULT, "write"));
        _exit(0);
    }
    CHECK_EQUAL(child_wait(pid), 0);
}

static int64_t fork_duration_ns(void)
{
    int64_t begin_ns = child_now_ns();
    fork_once();
    return child_now_ns() - begin_ns;
}

static void *be_another_thread(void *unused)
{
    int64_t shortest_ns = INT64_MAX;
    for (int i = 0; i < FORKS; i++) {
        int64_t duration_ns = fork_duration_ns();
        shortest_ns = duration_ns < shortest_ns ? duration_ns : shortest_ns;
    }
    CHECK(shortest_ns < MOST_NS);
    CHECK(dlsym(RTLD_DEFAULT, "read"));
    check_stop();
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t another;
    CHECK(argc >= 2);
    CHECK(pthread_atfork(raise_in_fork, NULL, NULL) == 0); /* runs after ours: registered before */
    struct sigaction action = {.sa_handler = fork_in_handler};
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    check_start(argv[1]);
    raises = 1;
    fork_once();
    CHECK(handled);
    CHECK(pthread_create(&another, NULL, be_another_thread, NULL) == 0);
    CHECK(pthread_join(another, NULL) == 0);
    return 0;
}
