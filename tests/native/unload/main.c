/* A patched library stays mapped although the host unloads it, so that undo writes into valid memory. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <libgen.h>

#include "recorded.h"

#define FILE_BYTES 5000
#define ROUNDS 50

union symbol {
    void *object;
    long (*read_file)(const char *);
};

static char plugin[PATH_MAX];

static void *load(void)
{
    void *library = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
    CHECK(library);
    return library;
}

static void use(void *library, const char *path)
{
    union symbol reader = {dlsym(library, "plugin_read")};
    CHECK(reader.object);
    CHECK_EQUAL(reader.read_file(path), FILE_BYTES);
}

static void check_unloaded_while_attached(const char *directory, const char *path)
{
    void *library = load();
    check_start(directory);
    use(library, path);
    CHECK(dlclose(library) == 0);
    check_stop();
    CHECK_EQUAL(recorded_here(directory, path, TFD_OP_OPEN).calls, 1);
    check_drop_spool(directory, getpid());
}

static void check_loaded_and_unloaded_while_attached(const char *directory, const char *path)
{
    check_start(directory);
    for (int i = 0; i < ROUNDS; i++) {
        void *library = load();
        use(library, path);
        CHECK(dlclose(library) == 0);
    }
    check_stop();
    CHECK_EQUAL(recorded_here(directory, path, TFD_OP_OPEN).calls, ROUNDS);
    CHECK_EQUAL(recorded_here(directory, path, TFD_OP_READ).bytes, ROUNDS * FILE_BYTES);
    check_drop_spool(directory, getpid());
}

int main(int argc, char **argv)
{
    char path[PATH_MAX];
    CHECK(argc >= 2);
    CHECK(readlink("/proc/self/exe", plugin, sizeof plugin - 16) > 0);
    strcat(dirname(plugin), "/libplugin.so");
    check_make_file(path, argv[1], "data", FILE_BYTES);
    check_unloaded_while_attached(argv[1], path);
    check_loaded_and_unloaded_while_attached(argv[1], path);
    check_unloaded_while_attached(argv[1], path);
    return 0;
}
