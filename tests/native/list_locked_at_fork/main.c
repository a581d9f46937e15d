/* A child inherits the lock of the loader's list in its current state, and here a thread of the host holds it again and
 * again. Calls that do not need the lock without us must not need it with us. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>

#include "children.h"

static char path[PATH_MAX];
static _Atomic bool stopping;

static int look(struct dl_phdr_info *info, size_t size, void *count)
{
    (void)info;
    (void)size;
    ++*(long *)count;
    return 0;
}

static void *walk_the_list(void *unused)
{
    (void)unused;
    for (long count = 0; !atomic_load(&stopping);)
        dl_iterate_phdr(look, &count);
    return NULL;
}

static void be_child(void)
{
    for (int i = 0; i < 2; i++) {
        CHECK(dlsym(RTLD_DEFAULT, "write"));
        FILE *stream = fopen(path, "r");
        CHECK(stream && fclose(stream) == 0);
    }
    _exit(0);
}

int main(int argc, char **argv)
{
    CHECK(argc >= 2);
    pthread_t walker;
    check_make_file(path, argv[1], "data", 1);
    check_start(argv[1]);
    CHECK(pthread_create(&walker, NULL, walk_the_list, NULL) == 0);
    for (long i = check_repeats(argc, argv, 50); i > 0; i--) {
        pid_t pid = child_fork();
        if (!pid)
            be_child();
        CHECK_EQUAL(child_wait(pid), 0);
        check_drop_spool(argv[1], pid);
    }
    atomic_store(&stopping, true);
    CHECK(pthread_join(walker, NULL) == 0);
    check_stop();
    return 0;
}
