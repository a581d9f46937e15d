/* When a library's function is first looked up, there is no descriptor left to read the process's mappings. The library
 * is patched as soon as there is one. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <libgen.h>
#include <sys/resource.h>

#include "recorded.h"

#define FILE_BYTES 10000
#define MOST_DESCRIPTORS 256

union reader {
    void *object;
    long (*read_file)(const char *);
};

static union reader ask_for_reader(void *library)
{
    union reader reader = {dlsym(library, "late_read")};
    CHECK(reader.object);
    return reader;
}

static void ask_without_descriptors(void *library)
{
    int taken[MOST_DESCRIPTORS], count = 0;
    while ((taken[count] = dup(STDIN_FILENO)) >= 0)
        count++;
    CHECK_EQUAL(errno, EMFILE);
    ask_for_reader(library);
    while (count)
        CHECK(close(taken[--count]) == 0);
}

int main(int argc, char **argv)
{
    char path[PATH_MAX], name[PATH_MAX], folder[PATH_MAX] = "";
    struct rlimit few = {MOST_DESCRIPTORS, MOST_DESCRIPTORS};
    CHECK(argc >= 2);
    CHECK(readlink("/proc/self/exe", folder, sizeof folder - 1) > 0);
    CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
    check_make_file(path, argv[1], "data", FILE_BYTES);
    check_start(argv[1]);
    void *library =
        dlopen(check_path(name, dirname(folder), "../late_dlopen/liblate.so"), RTLD_NOW | RTLD_LOCAL);
    CHECK(library);
    ask_without_descriptors(library);
    CHECK_EQUAL(ask_for_reader(library).read_file(path), FILE_BYTES);
    check_stop();
    CHECK_EQUAL(recorded_here(argv[1], path, TFD_OP_READ).bytes, FILE_BYTES);
    return 0;
}
