/* In a program that is not position independent, the program's stub stands for a function whose address is taken,
 * everywhere. As the next function it would come back to our wrapper for ever. */
#define _GNU_SOURCE
#include "recorded.h"

extern char end; /* of the program's memory */

typedef ssize_t read_function(int, void *, size_t);
typedef FILE *fopen_function(const char *, const char *);

/* An address that is part of an instruction can only be the stub's. */
static __attribute__((noinline)) read_function *address_of_read(void)
{
    return read;
}

static __attribute__((noinline)) fopen_function *address_of_fopen(void)
{
    return fopen;
}

int main(int argc, char **argv)
{
    char path[PATH_MAX], bytes[100];
    read_function *volatile read_pointer = address_of_read();
    fopen_function *volatile fopen_pointer = address_of_fopen();
    CHECK(argc >= 2);
    CHECK((uintptr_t)read_pointer < (uintptr_t)&end); /* it is in the program */
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
