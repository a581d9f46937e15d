/* The mode argument is passed on, also with O_TMPFILE instead of O_CREAT. */
#define _GNU_SOURCE
#include "recorded.h"

static void check_mode(int fd, mode_t mode)
{
    struct stat status;
    CHECK(fd >= 0 && fstat(fd, &status) == 0);
    CHECK_EQUAL(status.st_mode & 07777, mode);
    CHECK(close(fd) == 0);
}

int main(int argc, char **argv)
{
    char path[PATH_MAX];
    CHECK(argc >= 2);
    umask(0);
    check_start(argv[1]);
    check_mode(open(argv[1], O_TMPFILE | O_RDWR, 0640), 0640);
    check_mode(open64(argv[1], O_TMPFILE | O_WRONLY, 0604), 0604);
    check_mode(openat(AT_FDCWD, argv[1], O_TMPFILE | O_RDWR, 0600), 0600);
    check_mode(openat64(AT_FDCWD, argv[1], O_TMPFILE | O_RDWR | O_EXCL, 0660), 0660);
    check_mode(open(check_path(path, argv[1], "a"), O_CREAT | O_RDWR, 0751), 0751);
    check_mode(openat(AT_FDCWD, check_path(path, argv[1], "b"), O_CREAT | O_EXCL | O_RDWR, 02755), 02755);
    check_mode(creat(check_path(path, argv[1], "c"), 0444), 0444);
    check_stop();
    struct tfd_spool spool = recorded_open(argv[1], getpid());
    CHECK_EQUAL(recorded_tally(&spool, NULL, TFD_OP_OPEN).calls, 7);
    CHECK_EQUAL(recorded_tally(&spool, argv[1], -1).calls, 0); /* not of the directory */
    recorded_close(&spool);
    return 0;
}
