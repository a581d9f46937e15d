/* A child of vfork runs in its parent's memory. Its changes of descriptors must not reach the parent's table,
 * whether or not the thread has recorded before, also in a forked child that has not begun to record. */
#define _GNU_SOURCE
#include <pthread.h>

#include "children.h"
#include "recorded.h"

#define MARK_BYTES 333

static char a_path[PATH_MAX], b_path[PATH_MAX];
static const char *directory;
static int a, b;

/* As subprocess does: moves descriptors, closes the others, then runs a program or fails to. */
static void spawn(const char *program)
{
    char byte;
    char *arguments[] = {(char *)program, NULL};
    pid_t pid = vfork();
    if (!pid) {
        if (dup2(b, a) != a || read(a, &byte, 1) != 1 || close(b) || close(a))
            _exit(2);
        int reused = open(b_path, O_RDONLY);
        if (reused < 0 || read(reused, &byte, 1) != 1)
            _exit(3);
        execv(program, arguments);
        _exit(4);
    }
    CHECK(pid > 0);
    int status = child_wait(pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == (access(program, X_OK) ? 4 : 0));
    CHECK(!recorded_exists(directory, pid));
}

static void read_mark(int fd)
{
    char bytes[MARK_BYTES];
    CHECK_EQUAL(pread(fd, bytes, sizeof bytes, 0), MARK_BYTES);
}

static void *spawn_first(void *unused)
{
    (void)unused;
    spawn("/bin/true");
    spawn("/nonexistent");
    read_mark(a);
    read_mark(b);
    return NULL;
}

static void check_spool(pid_t pid, int marks)
{
    struct tfd_spool spool = recorded_open(directory, pid);
    CHECK_EQUAL(recorded_tally(&spool, a_path, TFD_OP_PREAD).bytes, marks * MARK_BYTES);
    CHECK_EQUAL(recorded_tally(&spool, b_path, TFD_OP_PREAD).bytes, marks * MARK_BYTES);
    CHECK_EQUAL(recorded_tally(&spool, a_path, -1).calls, marks);
    CHECK_EQUAL(recorded_tally(&spool, b_path, -1).calls, marks);
    recorded_close(&spool);
}

static void fork_and_spawn(void)
{
    pid_t pid = child_fork();
    if (!pid) {
        spawn_first(NULL);
        _exit(0);
    }
    CHECK_EQUAL(child_wait(pid), 0);
    check_spool(pid, 1);
}

int main(int argc, char **argv)
{
    CHECK(argc >= 2);
    pthread_t thread;
    directory = argv[1];
    check_make_file(a_path, directory, "a", 1000);
    check_make_file(b_path, directory, "b", 1000);
    a = open(a_path, O_RDONLY | O_CLOEXEC);
    b = open(b_path, O_RDONLY | O_CLOEXEC);
    check_start(directory);
    spawn_first(NULL);
    fork_and_spawn();
    CHECK(pthread_create(&thread, NULL, spawn_first, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    spawn_first(NULL);
    check_stop();
    check_spool(getpid(), 3);
    return 0;
}
