/* A preloaded library that defines read() is still called, and the call is counted once. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <libgen.h>

#include "recorded.h"

#define READS 50

static void run_again_preloaded(char **argv)
{
    char library[PATH_MAX] = "";
    CHECK(readlink("/proc/self/exe", library, sizeof library - 32) > 0);
    strcat(dirname(library), "/libinterposer.so");
    CHECK(setenv("LD_PRELOAD", library, 1) == 0);
    execv("/proc/self/exe", argv);
    CHECK(!"ran again");
}

int main(int argc, char **argv)
{
    char path[PATH_MAX], byte;
    CHECK(argc >= 2);
    int *interposed = dlsym(RTLD_DEFAULT, "interposed_reads");
    if (!interposed)
        run_again_preloaded(argv);
    check_make_file(path, argv[1], "data", READS);
    int fd = open(path, O_RDONLY);
    check_start(argv[1]);
    *interposed = 0;
    for (int i = 0; i < READS; i++)
        CHECK(read(fd, &byte, 1) == 1);
    CHECK_EQUAL(*interposed, READS);
    check_stop();
    CHECK(read(fd, &byte, 1) == 0);
    CHECK(*interposed > READS);
    CHECK_EQUAL(recorded_here(argv[1], path, TFD_OP_READ).calls, READS);
    CHECK_EQUAL(recorded_here(argv[1], NULL, TFD_OP_READ).calls, READS);
    return 0;
}
