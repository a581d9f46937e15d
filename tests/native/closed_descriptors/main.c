/* The host closes every descriptor that it does not know, as daemons do. None of them is ours, and their numbers are
 * looked up again. */
#define _GNU_SOURCE
#include <linux/close_range.h>

#include "children.h"
#include "recorded.h"

static char a_path[PATH_MAX], b_path[PATH_MAX];

static void read_a_and_b(void)
{
    char bytes[100];
    int a = open(a_path, O_RDONLY), b = open(b_path, O_RDONLY);
    CHECK(a >= 0 && b >= 0);
    CHECK(read(a, bytes, 10) == 10 && read(b, bytes, 100) == 100);
}

static void read_b_and_a(void)
{
    char bytes[100];
    int b = open(b_path, O_RDONLY), a = open(a_path, O_RDONLY);
    CHECK(a >= 0 && b >= 0);
    CHECK(read(a, bytes, 10) == 10 && read(b, bytes, 100) == 100);
}

/* Takes the numbers that files had. */
static void use_pipe(void)
{
    char bytes[10];
    int ends[2];
    CHECK(pipe(ends) == 0 && ends[0] < 8);
    CHECK(write(ends[1], "pipe", 4) == 4 && read(ends[0], bytes, sizeof bytes) == 4);
    CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
}

static void check_spool(const char *directory, pid_t pid, int times, int pipes)
{
    struct tfd_spool spool = recorded_open(directory, pid);
    CHECK_EQUAL(recorded_tally(&spool, a_path, TFD_OP_OPEN).calls, times);
    CHECK_EQUAL(recorded_tally(&spool, a_path, TFD_OP_READ).bytes, 10 * times);
    CHECK_EQUAL(recorded_tally(&spool, b_path, TFD_OP_OPEN).calls, times);
    CHECK_EQUAL(recorded_tally(&spool, b_path, TFD_OP_READ).bytes, 100 * times);
    CHECK_EQUAL(recorded_tally(&spool, NULL, TFD_OP_WRITE).calls, 0);
    CHECK_EQUAL(recorded_other(&spool, TFD_OTHER_PIPE).bytes_read, 4 * pipes);
    recorded_close(&spool);
}

static void check_child(const char *directory)
{
    pid_t pid = child_fork();
    if (!pid) {
        CHECK(close_range(3, ~0u, 0) == 0);
        read_b_and_a();
        CHECK(close_range(3, ~0u, 0) == 0);
        use_pipe();
        read_a_and_b();
        _exit(0);
    }
    CHECK_EQUAL(child_wait(pid), 0);
    check_spool(directory, pid, 2, 1);
}

int main(int argc, char **argv)
{
    CHECK(argc >= 2);
    check_make_file(a_path, argv[1], "a", 100);
    check_make_file(b_path, argv[1], "b", 100);
    check_start(argv[1]);
    read_a_and_b();
    CHECK(close_range(3, ~0u, 0) == 0);
    use_pipe();
    read_b_and_a();
    closefrom(3);
    use_pipe();
    read_a_and_b();
    CHECK(close_range(3, ~0u, CLOSE_RANGE_CLOEXEC) == 0); /* closes nothing yet */
    read_b_and_a();
    check_child(argv[1]);
    closefrom(0);
    CHECK(open("/dev/null", O_RDWR) == 0 && dup(0) == 1 && dup(0) == 2);
    check_stop();
    check_spool(argv[1], getpid(), 4, 2);
    return 0;
}
