/* A child of fork inherits the lock of the loader's list in its current state. If a thread of ours held it, it would
 * stay locked in the child. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>

#include "children.h"

#define BUSY_THREADS 4

static char path[PATH_MAX];
static _Atomic bool stopping;

/* Each dlsym looks whether libraries were loaded. */
static void *be_busy(void *unused)
{
    (void)unused;
    while (!atomic_load(&stopping))
        CHECK(dlsym(RTLD_DEFAULT, "read"));
    return NULL;
}

static void be_child(void)
{
    CHECK(dlsym(RTLD_DEFAULT, "write"));
    int fd = open(path, O_RDONLY);
    CHECK(fd >= 0 && close(fd) == 0);
    CHECK(dlsym(RTLD_DEFAULT, "write"));
    _exit(0);
}

int main(int argc, char **argv)
{
    CHECK(argc >= 2);
    pthread_t threads[BUSY_THREADS];
    check_make_file(path, argv[1], "data", 1);
    check_start(argv[1]);
    for (int i = 0; i < BUSY_THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, be_busy, NULL) == 0);
    for (long i = check_repeats(argc, argv, 200); i > 0; i--) {
        pid_t pid = child_fork();
        if (!pid)
            be_child();
        CHECK_EQUAL(child_wait(pid), 0);
        check_drop_spool(argv[1], pid);
    }
    atomic_store(&stopping, true);
    for (int i = 0; i < BUSY_THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    check_stop();
    return 0;
}
