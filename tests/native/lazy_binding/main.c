/* A slot the loader has not bound yet is patched as well; undo leaves the loader's stub, which still works. */
#define _GNU_SOURCE
#include <sys/uio.h>

#include "recorded.h"

/* The first call of each of these in the process happens where its name says. */
static void first_call_while_attached(int fd)
{
    char bytes[10];
    CHECK_EQUAL(pread(fd, bytes, 7, 0), 7);
}

static void first_call_after_detach(int fd)
{
    struct iovec vector = {(char[10]){0}, 9};
    CHECK_EQUAL(readv(fd, &vector, 1), 9);
}

int main(int argc, char **argv)
{
    char path[PATH_MAX];
    CHECK(argc >= 2);
    check_make_file(path, argv[1], "data", 1000);
    int fd = open(path, O_RDONLY);
    CHECK(fd >= 0);
    for (int round = 0; round < 2; round++) {
        check_start(argv[1]);
        first_call_while_attached(fd);
        if (round)
            first_call_after_detach(fd);
        check_stop();
        first_call_after_detach(fd);
        first_call_while_attached(fd);
        CHECK_EQUAL(recorded_here(argv[1], path, TFD_OP_PREAD).bytes, 7);
        CHECK_EQUAL(recorded_here(argv[1], path, TFD_OP_READV).calls, round);
        check_drop_spool(argv[1], getpid());
    }
    return 0;
}
