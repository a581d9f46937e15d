/* Threads are cancelled inside our wrappers: their handlers run, no lock stays held, the session ends normally and the
 * next one starts. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <libgen.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/cgroup_memory.h"
#include "children.h"
#include "recorded.h"

enum { NAMES = 20000 };

static char path[PATH_MAX];
static char *names[NAMES];
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

static void make_names(const char *folder)
{
    for (int i = 0; i < NAMES; i++) {
        CHECK(asprintf(&names[i], "%s/%d", folder, i) > 0);
        int fd = open(names[i], O_CREAT | O_WRONLY, 0600);
        CHECK(fd >= 0 && !close(fd));
    }
}

/* A control group with a limit, whose files say what memory is left. */
static void limit_memory(const char *folder)
{
    static const char *const files[][2] = {
        {"proc/self/cgroup", "0::/\n"},
        {"proc/self/mountinfo", "29 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"},
        {"sys/fs/cgroup/memory.max", "8589934592\n"},
        {"sys/fs/cgroup/memory.current", "1048576\n"},
    };
    char root[PATH_MAX / 2], name[PATH_MAX];
    snprintf(root, sizeof root, "%s/root", folder);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(name, sizeof name, "%s/%s", root, files[i][0]);
        for (char *slash = name + strlen(folder) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
            *slash = '\0';
            mkdir(name, 0700);
        }
        FILE *file = fopen(name, "w");
        CHECK(file && fputs(files[i][1], file) >= 0 && fclose(file) == 0);
    }
    tfd_cgroups_find(root);
    CHECK(tfd_cgroup_memory_left() == 8589934592 - 1048576);
}

static void drop_names(void)
{
    for (int i = 0; i < NAMES; i++) {
        CHECK(unlink(names[i]) == 0);
        free(names[i]);
    }
}

/* stat is no cancellation point, not even when the tables grow in it, which reads files. */
static void *stat_while_cancelled(void *unused)
{
    struct stat status;
    (void)unused;
    CHECK(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL) == 0);
    CHECK(pthread_cancel(pthread_self()) == 0);
    CHECK(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL) == 0);
    for (int i = 0; i < NAMES; i++)
        CHECK(stat(names[i], &status) == 0);
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
    make_names(memory);
    limit_memory(argv[1]);
    check_start(memory);
    cancel(stat_while_cancelled, 0);
    check_stop();
    CHECK(atomic_load(&cleaned) == 1);
    drop_names();
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
