/* A child may reach the end of its parent's `with` block. A stop there ends the child's recording only, also if
 * children are not followed, and before the child's first call. */
#define _GNU_SOURCE
#include "children.h"
#include "recorded.h"
#include "recorder/recording.h"

static char path[PATH_MAX];

static void read_once(void)
{
    char bytes[10];
    int fd = open(path, O_RDONLY);
    CHECK(fd >= 0 && pread(fd, bytes, sizeof bytes, 0) == sizeof bytes && close(fd) == 0);
}

/* The child stops what it inherited, and can record a session of its own. */
static void be_child(const char *directory, bool follow, bool reads_first)
{
    struct tfd_attach_report report;
    char own[PATH_MAX];
    if (reads_first)
        read_once();
    if (reads_first || !follow)
        CHECK(tfd_is_recording_here() == follow);
    CHECK((tfd_session_stop(&report) == 0) == follow);
    CHECK(tfd_session_stop(&report) < 0);
    CHECK(!tfd_session_active());
    read_once();
    CHECK_EQUAL(recorded_exists(directory, getpid()), follow);
    CHECK(mkdir(check_path(own, directory, "own"), 0700) == 0);
    struct tfd_options options = check_options(own);
    CHECK(tfd_session_start(&options, &report) == 0);
    read_once();
    check_stop();
    CHECK_EQUAL(recorded_here(own, path, TFD_OP_PREAD).calls, 1);
    check_drop_spool(own, getpid());
    CHECK(rmdir(own) == 0);
    _exit(0);
}

static void check_child(const char *directory, bool follow, bool reads_first)
{
    struct tfd_options options = check_options(directory);
    options.follow_children = follow;
    check_start_with(&options);
    read_once();
    pid_t pid = child_fork();
    if (!pid)
        be_child(directory, follow, reads_first);
    CHECK_EQUAL(child_wait(pid), 0);
    read_once();
    check_stop();
    CHECK_EQUAL(recorded_here(directory, path, TFD_OP_PREAD).calls, 2);
    if (follow) {
        struct tfd_spool spool = recorded_open(directory, pid);
        CHECK_EQUAL(recorded_tally(&spool, path, TFD_OP_PREAD).calls, reads_first);
        CHECK_EQUAL(spool.header->state, TFD_SPOOL_STOPPED);
        recorded_close(&spool);
    }
    check_drop_spool(directory, getpid());
}

int main(int argc, char **argv)
{
    CHECK(argc >= 2);
    check_make_file(path, argv[1], "data", 100);
    for (int way = 0; way < 4; way++)
        check_child(argv[1], way & 1, way & 2);
    return 0;
}
