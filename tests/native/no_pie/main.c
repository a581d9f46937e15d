/* In a program that is not position independent, a function whose address is taken has its stub in the
 * program stand for it everywhere: called as the next function it would come back to our wrapper for ever. */
#define _GNU_SOURCE
#include "recorded.h"

static ssize_t (*volatile read_pointer)(int, void *, size_t) = read;
static FILE *(*volatile fopen_pointer)(const char *, const char *) = fopen;

int main(int argc, char **argv)
{
    char path[PATH_MAX], bytes[100];
    CHECK(argc >= 2);
    check_make_file(path, argv[1], "data", 1000);
    for (int round = 0; round < 3; round++) {
        check_start(argv[1]);
        int fd = open(path, O_RDONLY);
        CHECK(fd >= 0 && read(fd, bytes, 10) == 10);
        CHECK(read_pointer(fd, bytes, 20) == 20);
        FILE *stream = fopen_pointer(path, "r");
        CHECK(stream && fread(bytes, 1, 30, stream) == 30 && fclose(stream) == 0);
        check_stop();
        CHECK(read(fd, bytes, 10) == 10 && read_pointer(fd, bytes, 20) == 20 && close(fd) == 0);
        CHECK_EQUAL(recorded_here(argv[1], path, TFD_OP_READ).bytes, 30);
        CHECK_EQUAL(recorded_here(argv[1], path, TFD_OP_READ).calls, 2);
        CHECK_EQUAL(recorded_here(argv[1], path, TFD_OP_FOPEN).calls, 1);
        CHECK_EQUAL(recorded_here(argv[1], path, TFD_OP_FREAD).bytes, 30);
        check_drop_spool(argv[1], getpid());
    }
    return 0;
}
