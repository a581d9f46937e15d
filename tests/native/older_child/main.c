/* A child that is older than two sessions is recorded in both, to the call, and not between them. It was forked
 * while a thread of the host held the lock of the loader's list, for which joining must not wait. Its own child of
 * vfork uses its memory, and must not join in its place. */
#define _GNU_SOURCE
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "children.h"
#include "counted.h"

static char path[PATH_MAX], first[PATH_MAX], second[PATH_MAX];
static int orders[2], answers[2];
static _Atomic bool stopping;
static _Atomic bool *recording; /* shared with the child, which must not call us to learn it */

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

static void read_file(void)
{
    char bytes[100];
    errno = ERANGE;
    int fd = open(path, O_RDONLY);
    CHECK_EQUAL(errno, ERANGE);
    CHECK(fd >= 0 && pread(fd, bytes, sizeof bytes, 0) == sizeof bytes && close(fd) == 0);
}

/* The open comes before any call of the child's own. */
static void open_in_vfork_child(void)
{
    while (!atomic_load(recording))
        child_pause();
    pid_t pid = vfork();
    if (!pid) {
        int fd = open(path, O_RDONLY);
        if (fd >= 0)
            close(fd);
        _exit(fd < 0);
    }
    CHECK(pid > 0);
    CHECK_EQUAL(child_wait(pid), 0);
}

static void be_child(void)
{
    char order;
    while (read(orders[0], &order, 1) == 1 && order != 'q') {
        if (order == 'v')
            open_in_vfork_child();
        else
            read_file();
        CHECK(write(answers[1], &order, 1) == 1);
    }
    _exit(0);
}

static int bytes_waiting(int fd)
{
    int count = 0;
    CHECK(ioctl(fd, FIONREAD, &count) == 0);
    return count;
}

static void tell(const char *list)
{
    char answer;
    for (; *list; list++)
        CHECK(write(orders[1], list, 1) == 1 && (*list == 'q' || read(answers[0], &answer, 1) == 1));
}

/* A folder from which programs could join, which only such sessions say. */
static void make_spool_folder(char folder[PATH_MAX], const char *parent, const char *name)
{
    char core[PATH_MAX];
    check_path(folder, parent, name);
    CHECK(mkdir(folder, 0700) == 0);
    CHECK(symlink("/proc/self/exe", check_path(core, folder, "core")) == 0);
}

static void record(const char *folder, const char *list)
{
    char answer;
    CHECK(write(orders[1], "v", 1) == 1);
    while (bytes_waiting(orders[0]))
        child_pause();
    check_start(folder);
    atomic_store(recording, true);
    CHECK(read(answers[0], &answer, 1) == 1);
    tell(list);
    check_stop();
    atomic_store(recording, false);
    check_drop_spool(folder, (int)getpid());
}

static void check_counts(const char *folder, pid_t pid, int64_t opens)
{
    struct tfd_reader *reader = counted_open(folder, pid);
    CHECK_EQUAL(counted_sum(reader, path, "POSIX_OPENS"), opens);
    CHECK_EQUAL(counted_sum(reader, path, "POSIX_BYTES_READ"), opens * 100);
    tfd_reader_close(reader);
    check_drop_spool(folder, pid);
}

static void outlive_two_sessions(void)
{
    CHECK(pipe(orders) == 0 && pipe(answers) == 0);
    pid_t pid = child_fork();
    if (!pid)
        be_child();
    tell("r");
    record(first, "rr");
    tell("rr");
    record(second, "rrr");
    tell("rq");
    CHECK_EQUAL(child_wait(pid), 0);
    check_counts(first, pid, 2);
    check_counts(second, pid, 3);
    CHECK(!close(orders[0]) && !close(orders[1]) && !close(answers[0]) && !close(answers[1]));
}

int main(int argc, char **argv)
{
    CHECK(argc >= 2);
    pthread_t walker;
    check_make_file(path, argv[1], "data", 100);
    make_spool_folder(first, argv[1], "first");
    make_spool_folder(second, argv[1], "second");
    CHECK(unsetenv("TFDARSHAN_SESSION") == 0);
    tfd_job_begin((const void *)main);
    CHECK(getenv("TFDARSHAN_SESSION"));
    recording = mmap(NULL, sizeof *recording, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(recording != MAP_FAILED);
    CHECK(pthread_create(&walker, NULL, walk_the_list, NULL) == 0);
    for (long i = check_repeats(argc, argv, 20); i > 0; i--)
        outlive_two_sessions();
    atomic_store(&stopping, true);
    CHECK(pthread_join(walker, NULL) == 0);
    return 0;
}
