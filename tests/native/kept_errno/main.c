/* A failed call's errno is the caller's; a call that succeeds leaves the errno of before. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "check.h"

static void check_failures(void)
{
    char byte;
    errno = 0;
    CHECK(read(-1, &byte, 1) == -1 && errno == EBADF);
    errno = 0;
    CHECK(pread(-1, &byte, 1, 0) == -1 && errno == EBADF);
    errno = 0;
    CHECK(open("/nonexistent/file", O_RDONLY) == -1 && errno == ENOENT);
    errno = 0;
    CHECK(fopen("/nonexistent/file", "r") == NULL && errno == ENOENT);
}

static void check_successes(const char *path)
{
    char byte;
    errno = EXDEV;
    int fd = open(path, O_RDONLY);
    CHECK(fd >= 0 && errno == EXDEV);
    CHECK(read(fd, &byte, 1) == 1 && errno == EXDEV);
    CHECK(close(fd) == 0 && errno == EXDEV);
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    check_start(argv[1]);
    check_failures();
    check_successes(argv[0]);
    check_stop();
    check_failures();
    check_successes(argv[0]);
    return 0;
}
