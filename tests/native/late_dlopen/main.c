/* Libraries that are loaded while a session records are recorded too, and the loader works the same as without us. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <libgen.h>

#include "children.h"
#include "recorded.h"

#define FILE_BYTES 10000

union symbol {
    void *object;
    long (*read_file)(const char *);
    void *(*open_library)(void);
    int (*number)(void);
};

static char folder[PATH_MAX];

static void *load(const char *name)
{
    char path[PATH_MAX];
    void *library = dlopen(check_path(path, folder, name), RTLD_NOW | RTLD_LOCAL);
    CHECK(library);
    return library;
}

/* dlopen, dlsym, call: with nothing in between that could find the library. */
static void check_late_library_is_recorded(const char *path)
{
    union symbol late = {dlsym(load("liblate.so"), "late_read")};
    CHECK(late.object);
    CHECK_EQUAL(late.read_file(path), FILE_BYTES);
}

/* The first call of all that a child makes is in a library it loaded itself. */
static void check_child_is_recorded(const char *directory, const char *path)
{
    pid_t pid = child_fork();
    if (!pid) {
        union symbol child = {dlsym(load("libchild.so"), "late_read")};
        CHECK(child.object && child.read_file(path) == FILE_BYTES);
        _exit(0);
    }
    CHECK_EQUAL(child_wait(pid), 0);
    struct tfd_spool spool = recorded_open(directory, pid);
    CHECK_EQUAL(recorded_tally(&spool, path, TFD_OP_OPEN).calls, 1);
    CHECK_EQUAL(recorded_tally(&spool, path, TFD_OP_READ).bytes, FILE_BYTES);
    recorded_close(&spool);
}

static void check_loader_sees_the_caller(void)
{
    void *outer = load("libouter.so");
    union symbol next = {dlsym(outer, "outer_next_marker")};
    CHECK(next.object);
    CHECK_EQUAL(next.number(), 2);
#ifndef __SANITIZE_ADDRESS__ /* its own dlopen stands between, and that is the caller then */
    union symbol open_inner = {dlsym(outer, "outer_open")};
    CHECK(open_inner.object && open_inner.open_library());
#endif
}

int main(int argc, char **argv)
{
    char path[PATH_MAX];
    CHECK(argc >= 2);
    CHECK(readlink("/proc/self/exe", folder, sizeof folder - 1) > 0);
    dirname(folder);
    check_make_file(path, argv[1], "data", FILE_BYTES);
    check_start(argv[1]);
    check_child_is_recorded(argv[1], path);
    check_late_library_is_recorded(path);
    check_loader_sees_the_caller();
    check_stop();
    CHECK_EQUAL(recorded_here(argv[1], path, TFD_OP_OPEN).calls, 1);
    CHECK_EQUAL(recorded_here(argv[1], path, TFD_OP_READ).calls, 4);
    CHECK_EQUAL(recorded_here(argv[1], path, TFD_OP_READ).bytes, FILE_BYTES);
    CHECK_EQUAL(recorded_here(argv[1], path, TFD_OP_CLOSE).calls, 1);
    return 0;
}
