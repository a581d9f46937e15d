/* A library is in the loader's list before it is relocated. A scan at that time must be repeated later. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <libgen.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/attach_lock.h"
#include "children.h"
#include "hooks/got_patch.h"
#include "recorded.h"

#define FILE_BYTES 10000

static char library[PATH_MAX];
static _Atomic bool loaded;

static void *load(void *unused)
{
    (void)unused;
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    CHECK(handle);
    atomic_store(&loaded, true);
    return handle;
}

static void look_again(void)
{
    struct tfd_attach_report report = {0};
    tfd_attach_lock();
    CHECK(tfd_got_patch(&report) == 0);
    tfd_attach_unlock();
}

int main(int argc, char **argv)
{
    char path[PATH_MAX], folder[PATH_MAX] = "";
    pthread_t loader;
    union {
        void *object;
        long (*read_file)(const char *);
    } slow;
    CHECK(argc >= 2);
    CHECK(readlink("/proc/self/exe", folder, sizeof folder - 1) > 0);
    check_path(library, dirname(folder), "libslow.so");
    check_make_file(path, argv[1], "data", FILE_BYTES);
    check_start(argv[1]);
    CHECK(pthread_create(&loader, NULL, load, NULL) == 0);
    while (!atomic_load(&loaded))
        look_again();
    CHECK(pthread_join(loader, &slow.object) == 0);
    slow.object = dlsym(slow.object, "slow_read");
    CHECK(slow.object);
    CHECK_EQUAL(slow.read_file(path), FILE_BYTES);
    check_stop();
    CHECK_EQUAL(recorded_here(argv[1], path, TFD_OP_OPEN).calls, 1);
    CHECK_EQUAL(recorded_here(argv[1], path, TFD_OP_READ).bytes, FILE_BYTES);
    CHECK_EQUAL(recorded_here(argv[1], path, TFD_OP_CLOSE).calls, 1);
    return 0;
}
