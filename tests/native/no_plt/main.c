/* Calls through the global offset table without a procedure linkage table (-fno-plt). */
#define _GNU_SOURCE
#include "recorded.h"

int main(int argc, char **argv)
{
    char path[PATH_MAX], bytes[100];
    CHECK(argc >= 2);
    check_make_file(path, argv[1], "data", sizeof bytes);
    check_start(argv[1]);
    int fd = open(path, O_RDONLY);
    CHECK(fd >= 0 && pread(fd, bytes, sizeof bytes, 0) == sizeof bytes && close(fd) == 0);
    check_stop();
    CHECK_EQUAL(recorded_here(argv[1], path, TFD_OP_OPEN).calls, 1);
    CHECK_EQUAL(recorded_here(argv[1], path, TFD_OP_PREAD).bytes, sizeof bytes);
    CHECK_EQUAL(recorded_here(argv[1], path, TFD_OP_CLOSE).calls, 1);
    return 0;
}
