/* Threads are cancelled inside our wrappers: their handlers run, no lock stays held, the session ends normally and the
 * next one starts. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <libgen.h>
#include <pthread.h>
#include <stdatomic.h>

#include "children.h"
#include "recorded.h"

static char path[PATH_MAX];
static int ends[2];
static _Atomic int cleaned;

static void clean(void *unused)
{
    (void)unused;
    atomic_fetch_add(&cleaned, 1);
}

static void *wait_for_byte(void *unused)
{
    char byte;
    (void)unused;
    pthread_cleanup_push(clean, NULL);
    CHECK(read(ends[0], &byte, 1) < 0);
    pthread_cleanup_pop(1);
    return NULL;
}

static void close_one(void *fd)
{
    if (*(int *)fd >= 0)
        close(*(int *)fd);
    atomic_fetch_add(&cleaned, 1);
}

static void *read_for_ever(void *unused)
{
    char byte;
    int fd = -1;
    FILE *stream;
    (void)unused;
    pthread_cleanup_push(close_one, &fd);
    for (;;) {
        fd = open(path, O_RDONLY);
        CHECK(fd < 0 || pread(fd, &byte, 1, 0) == 1);
        int closing = fd;
        fd = -1;
        close(closing);
        if ((stream = fopen(path, "r")))
            fclose(stream);
    }
    pthread_cleanup_pop(1);
    return NULL;
}

/* dlsym is not a cancellation point, not even when our wrapper patches a new library in it. */
static void *look_up_while_cancelled(void *unused)
{
    char library[PATH_MAX] = "";
    (void)unused;
    CHECK(readlink("/proc/self/exe", library, sizeof library - 16) > 0);
    CHECK(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL) == 0);
    void *late = dlopen(strcat(dirname(library), "/liblate.so"), RTLD_NOW);
    CHECK(late && pthread_cancel(pthread_self()) == 0);
    CHECK(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL) == 0);
    CHECK(dlsym(late, "late_read"));
    atomic_fetch_add(&cleaned, 1);
    pthread_testcancel();
    return NULL;
}

/* stat is no cancellation point, not even when the tables grow in it, which reads files. */
static void *stat_while_cancelled(void *unused)
{
    char name[64];
    struct stat status;
    (void)unused;
    CHECK(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL) == 0);
    CHECK(pthread_cancel(pthread_self()) == 0);
    CHECK(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL) == 0);
    for (int i = 0; i < 20000; i++) {
        snprintf(name, sizeof name, "/no/such/folder/%d", i);
        CHECK(stat(name, &status) < 0);
    }
    atomic_fetch_add(&cleaned, 1);
    pthread_testcancel();
    return NULL;
}

static void cancel(void *(*work)(void *), int pauses)
{
    pthread_t thread;
    void *result;
    CHECK(pthread_create(&thread, NULL, work, NULL) == 0);
    while (pauses-- > 0)
        child_pause();
    CHECK(pthread_cancel(thread) == 0 || work == look_up_while_cancelled || work == stat_while_cancelled);
    CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
}

int main(int argc, char **argv)
{
    CHECK(argc >= 2);
    long count = check_repeats(argc, argv, 200);
    check_make_file(path, argv[1], "data", 1000);
    CHECK(pipe(ends) == 0);
    char memory[] =
        "/dev/shm/tfd-cancelled-XXXXXX"; /* what is in memory is held against the memory that is left */
    CHECK(mkdtemp(memory));
    check_start(memory);
    cancel(stat_while_cancelled, 0);
    check_stop();
    CHECK(atomic_load(&cleaned) == 1);
    check_drop_spool(memory, getpid());
    for (int round = 0; round < 2; round++) {
        atomic_store(&cleaned, 0);
        check_start(argv[1]);
        for (long i = 0; i < count; i++) {
            cancel(wait_for_byte, (int)(i % 3));
            cancel(read_for_ever, (int)(i % 5));
        }
        cancel(look_up_while_cancelled, 0);
        check_stop();
        CHECK_EQUAL(atomic_load(&cleaned), 2 * count + 1);
        check_drop_spool(argv[1], getpid());
    }
    CHECK(rmdir(memory) == 0);
    return 0;
}
