/* Children that are made without fork handlers (_Fork, the system call) record nothing, least of all into their
 * parent's spool, and may stop a session without harm. */
#define _GNU_SOURCE
#include <sys/syscall.h>

#include "children.h"
#include "recorded.h"
#include "recorder/recording.h"

static char path[PATH_MAX];
static int tracked;

static void use_files(void)
{
    char bytes[10];
    FILE *stream;
    int fd = open(path, O_RDWR);
    CHECK(fd >= 0 && pread(tracked, bytes, sizeof bytes, 0) == sizeof bytes);
    CHECK(read(tracked, bytes, sizeof bytes) == sizeof bytes && lseek(tracked, 0, SEEK_SET) == 0);
    CHECK(write(fd, bytes, sizeof bytes) == sizeof bytes && dup2(fd, tracked) == tracked);
    CHECK(close(fd) == 0 && close(tracked) == 0);
    CHECK((stream = fopen(path, "r")) && fread(bytes, 1, 4, stream) == 4 && fclose(stream) == 0);
}

static void be_child(void)
{
    struct tfd_attach_report report;
    use_files();
    CHECK(!tfd_is_recording_here());
    CHECK(tfd_session_stop(&report) < 0);
    tracked = open(path, O_RDONLY);
    use_files();
    _exit(0);
}

int main(int argc, char **argv)
{
    CHECK(argc >= 2);
    check_make_file(path, argv[1], "data", 1000);
    check_start(argv[1]);
    tracked = open(path, O_RDONLY);
    char byte;
    CHECK(read(tracked, &byte, 1) == 1);
    for (int way = 0; way < 2; way++) {
        pid_t pid = way ? (pid_t)syscall(SYS_fork) : _Fork();
        CHECK(pid >= 0);
        if (!pid)
            be_child();
        CHECK_EQUAL(child_wait(pid), 0);
        CHECK(!recorded_exists(argv[1], pid));
    }
    lseek(tracked, 0, SEEK_SET);
    CHECK(read(tracked, &byte, 1) == 1);
    check_stop();
    CHECK_EQUAL(recorded_here(argv[1], path, TFD_OP_OPEN).calls, 1);
    CHECK_EQUAL(recorded_here(argv[1], path, TFD_OP_READ).calls, 2);
    CHECK_EQUAL(recorded_here(argv[1], path, TFD_OP_CLOSE).calls, 0);
    return 0;
}
