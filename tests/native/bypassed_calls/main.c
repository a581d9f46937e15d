/* Files can be read and written without calls of the C library. Nothing of it is recorded, so the spool says which ways
 * to do so a process had open: at the end of its session, or before if it mapped its ring by a call or was given its
 * context by another library. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <libgen.h>
#include <linux/aio_abi.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "children.h"
#include "recorded.h"

#ifndef SYS_io_uring_setup
#define SYS_io_uring_setup 425
#endif
#define PARAMETERS_BYTES 120 /* of struct io_uring_params */
#define ENTRIES 4

static const char *directory;

static int make_ring(void)
{
    _Alignas(8) char parameters[PARAMETERS_BYTES] = {0};
    return (int)syscall(SYS_io_uring_setup, ENTRIES, parameters);
}

/* Containers and administrators forbid rings. */
static bool may_make_rings(void)
{
    int ring = make_ring();
    return ring >= 0 && close(ring) == 0;
}

/* 0 if this kernel has none. */
static aio_context_t make_context(void)
{
    aio_context_t context = 0;
    return syscall(SYS_io_setup, ENTRIES, &context) ? 0 : context;
}

static void end_context(aio_context_t context)
{
    CHECK(syscall(SYS_io_destroy, context) == 0);
}

static uint64_t said_of(pid_t pid)
{
    struct tfd_spool spool = recorded_open(directory, pid);
    uint64_t bypasses = atomic_load(&spool.header->bypasses);
    recorded_close(&spool);
    check_drop_spool(directory, pid);
    return bypasses;
}

static uint64_t stop_and_said(void)
{
    check_stop();
    return said_of(getpid());
}

static void check_without(void)
{
    check_start(directory);
    CHECK_EQUAL(stop_and_said(), 0);
}

static void check_context(void)
{
    check_start(directory);
    aio_context_t context = make_context();
    CHECK_EQUAL(stop_and_said(), TFD_BYPASS_AIO);
    check_start(directory); /* it is older than this session */
    CHECK_EQUAL(stop_and_said(), TFD_BYPASS_AIO);
    end_context(context);
}

/* Contexts do not go to children, and a child says what it had itself. */
static void check_context_of_child(const char *path)
{
    check_start(directory);
    pid_t pid = child_fork();
    if (!pid) {
        CHECK(close(open(path, O_RDONLY)) == 0);
        CHECK(make_context());
        _exit(0);
    }
    CHECK_EQUAL(child_wait(pid), 0);
    CHECK_EQUAL(said_of(pid), TFD_BYPASS_AIO);
    CHECK_EQUAL(stop_and_said(), 0);
}

static void check_ring(void)
{
    check_start(directory);
    int ring = make_ring();
    CHECK_EQUAL(stop_and_said(), TFD_BYPASS_IO_URING);
    CHECK(close(ring) == 0);
}

static void check_ring_that_ended(void)
{
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    check_start(directory);
    int ring = make_ring();
    void *queue = mmap(NULL, page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring, 0);
    CHECK(queue != MAP_FAILED && munmap(queue, page_bytes) == 0 && close(ring) == 0);
    CHECK_EQUAL(stop_and_said(), TFD_BYPASS_IO_URING);
}

union symbol {
    void *object;
    int (*set_up)(int requests, void **context);
    int (*open_way)(int which, int entries);
};

static union symbol function_of(const char *library, const char *name)
{
    char folder[PATH_MAX] = "", path[PATH_MAX];
    CHECK(readlink("/proc/self/exe", folder, sizeof folder - 1) > 0);
    void *handle = dlopen(check_path(path, dirname(folder), library), RTLD_NOW | RTLD_LOCAL);
    CHECK(handle);
    union symbol found = {dlsym(handle, name)};
    CHECK(found.object);
    return found;
}

/* Each library keeps the function that it was linked against. */
static void check_context_that_ended(void)
{
    void *context = NULL;
    check_start(directory);
    CHECK_EQUAL(function_of("libuser.so", "set_up").set_up(ENTRIES, &context), 0);
    end_context((aio_context_t)context);
    CHECK_EQUAL(stop_and_said(), TFD_BYPASS_AIO);
    check_start(directory);
    CHECK_EQUAL(function_of("libother.so", "set_up").set_up(ENTRIES, NULL), ENTRIES);
    CHECK_EQUAL(stop_and_said(), 0);
    check_start(directory); /* both are loaded already */
    CHECK_EQUAL(function_of("libother.so", "set_up").set_up(ENTRIES, NULL), ENTRIES);
    context = NULL;
    CHECK_EQUAL(function_of("libuser.so", "set_up").set_up(ENTRIES, &context), 0);
    end_context((aio_context_t)context);
    CHECK_EQUAL(stop_and_said(), TFD_BYPASS_AIO);
}

/* A call that fails opens nothing. */
static void check_ways(void)
{
    for (int which = 0; which < 4; which++) {
        check_start(directory);
        union symbol ways = function_of("libways.so", "open_way");
        CHECK_EQUAL(ways.open_way(which, 0), -1);
        CHECK_EQUAL(stop_and_said(), 0);
        check_start(directory);
        CHECK_EQUAL(ways.open_way(which, 1), which == 3 ? 4096 : 0);
        CHECK_EQUAL(stop_and_said(), which ? TFD_BYPASS_IO_URING : TFD_BYPASS_AIO);
    }
}

int main(int argc, char **argv)
{
    char path[PATH_MAX];
    CHECK(argc >= 2);
    directory = argv[1];
    check_make_file(path, directory, "data", 100);
    aio_context_t context = make_context();
    bool has_contexts = context, has_rings = may_make_rings();
    if (has_contexts)
        end_context(context);
    check_without();
    check_ways();
    if (has_contexts) {
        check_context();
        check_context_of_child(path);
        check_context_that_ended();
    }
    if (has_rings) {
        check_ring();
        check_ring_that_ended();
    }
    if (has_rings && has_contexts)
        return 0;
    fprintf(stderr, "this kernel forbids %s\n", has_contexts ? "io_uring" : "Linux AIO");
    return CHECK_SKIP;
}
