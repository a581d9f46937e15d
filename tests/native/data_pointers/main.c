/* Absolute pointers to hooked functions in a library's data (R_X86_64_64) are slots too. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <libgen.h>

#include "recorded.h"

union symbol {
    void *object;
    long (*read_file)(const char *);
};

int main(int argc, char **argv)
{
    char path[PATH_MAX], library[PATH_MAX] = "";
    CHECK(argc >= 2);
    CHECK(readlink("/proc/self/exe", library, sizeof library - 16) > 0);
    void *table = dlopen(strcat(dirname(library), "/libtable.so"), RTLD_NOW);
    CHECK(table);
    union symbol reader = {dlsym(table, "read_by_tables")};
    CHECK(reader.object);
    check_make_file(path, argv[1], "data", 2000);
    check_start(argv[1]);
    CHECK_EQUAL(reader.read_file(path), 1100);
    check_stop();
    CHECK_EQUAL(reader.read_file(path), 1100);
    CHECK_EQUAL(recorded_here(argv[1], path, TFD_OP_OPEN).calls, 2);
    CHECK_EQUAL(recorded_here(argv[1], path, TFD_OP_READ).bytes, 1100);
    CHECK_EQUAL(recorded_here(argv[1], path, TFD_OP_CLOSE).calls, 2);
    return 0;
}
