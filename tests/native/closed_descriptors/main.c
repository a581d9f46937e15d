/* The host closes every descriptor it does not know, as daemons do: none of them was ours, and numbers are
 * looked up anew. */
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

static void check_spool(const char *directory, pid_t pid, int times)
{
    struct tfd_spool spool = recorded_open(directory, pid);
    CHECK_EQUAL(recorded_tally(&spool, a_path, TFD_OP_OPEN).calls, times);
    CHECK_EQUAL(recorded_tally(&spool, a_path, TFD_OP_READ).bytes, 10 * times);
    CHECK_EQUAL(recorded_tally(&spool, b_path, TFD_OP_OPEN).calls, times);
    CHECK_EQUAL(recorded_tally(&spool, b_path, TFD_OP_READ).bytes, 100 * times);
    recorded_close(&spool);
}

static void check_child(const char *directory)
{
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (!pid) {
        CHECK(close_range(3, ~0u, 0) == 0);
        read_b_and_a();
        CHECK(close_range(3, ~0u, 0) == 0);
        read_a_and_b();
        _exit(0);
    }
    CHECK_EQUAL(child_wait(pid), 0);
    check_spool(directory, pid, 2);
}

int main(int argc, char **argv)
{
    CHECK(argc >= 2);
    check_make_file(a_path, argv[1], "a", 100);
    check_make_file(b_path, argv[1], "b", 100);
    check_start(argv[1]);
    read_a_and_b();
    CHECK(close_range(3, ~0u, 0) == 0);
    read_b_and_a();
    closefrom(3);
    read_a_and_b();
    CHECK(close_range(3, ~0u, CLOSE_RANGE_CLOEXEC) == 0); /* closes nothing yet */
    read_b_and_a();
    check_child(argv[1]);
    closefrom(0);
    CHECK(open("/dev/null", O_RDWR) == 0 && dup(0) == 1 && dup(0) == 2);
    check_stop();
    check_spool(argv[1], getpid(), 4);
    return 0;
}
