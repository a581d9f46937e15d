/* A library that exports nothing has an empty hash table. All functions that it calls are still in its slots. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <libgen.h>

#include "recorded.h"

#define FILE_BYTES 10000

static long (*read_file)(const char *path);

int main(int argc, char **argv)
{
    char path[PATH_MAX], folder[PATH_MAX] = "", library[PATH_MAX], place[32];
    CHECK(argc >= 2);
    CHECK(readlink("/proc/self/exe", folder, sizeof folder - 1) > 0);
    snprintf(place, sizeof place, "%p", (void *)&read_file);
    CHECK(setenv("HIDDEN_LIBRARY_PLACE", place, 1) == 0);
    CHECK(dlopen(check_path(library, dirname(folder), "libhidden.so"), RTLD_NOW | RTLD_LOCAL) && read_file);
    check_make_file(path, argv[1], "data", FILE_BYTES);
    check_start(argv[1]);
    CHECK_EQUAL(read_file(path), FILE_BYTES);
    check_stop();
    CHECK_EQUAL(recorded_here(argv[1], path, TFD_OP_OPEN).calls, 1);
    CHECK_EQUAL(recorded_here(argv[1], path, TFD_OP_READ).bytes, FILE_BYTES);
    CHECK_EQUAL(recorded_here(argv[1], path, TFD_OP_CLOSE).calls, 1);
    return 0;
}
