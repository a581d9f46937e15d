#define _GNU_SOURCE
#include "darshan/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "darshan/gate.h"
#include "darshan/guard.h"
#include "hooks/definitions.h"
#include "hooks/hook_table.h"
#include "recorder/session.h"
#include "tfdarshan.h"

#define LOG_VERSION "3.41"
#define NAMES_CHECKED 64u

extern char **environ;

enum { NOT_LOADED, OWN, FOREIGN, UNUSABLE };

static struct {
    int state;
    int32_t pid; /* process that loaded it */
    char path[PATH_MAX];
    void *handle;
    const void *base;
    struct tfd_darshan_core **core;
    double *clock_offset;
    void *lock;
    bool lock_is_mutex;
    void (*initialize)(int, char **);
    char *(*lookup_name)(uint64_t);
    uint64_t (*record_id)(const char *);
} library;

/* Return the process's environment with our configuration file in place of
 * Darshan's variables. It replaces the environment while libdarshan reads it.
 * Changes in place could move variables under a getenv of another thread. */
static char **environment_for_darshan(const char *config_path)
{
    size_t count = 0, kept = 0;
    while (environ && environ[count])
        count++;
    char **copy = calloc(count + 3, sizeof *copy), *config = NULL, *log = NULL;
    int folder_length = (int)(strrchr(config_path, '/') - config_path);
    if (!copy || asprintf(&config, "DARSHAN_CONFIG_PATH=%s", config_path) < 0 ||
        asprintf(&log, "DARSHAN_MMAP_LOGPATH=%.*s", folder_length, config_path) < 0) {
        free(copy);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], "DARSHAN_", 8) && strncmp(environ[i], "DXT_", 4))
            copy[kept++] = environ[i];
    copy[kept++] = config;
    copy[kept] = log; /* for builds that log into a mapped file; removed with its folder */
    return copy;
}

static void *symbol(const char *name)
{
    return dlsym(library.handle, name);
}

/* The lock is a spin lock of one byte, or a mutex in builds without stdatomic.h. The symbol's size tells which. */
static void look_at_lock(void)
{
    Dl_info info;
    const ElfW(Sym) *found = NULL;
    library.lock = symbol("__darshan_core_mutex");
    if (library.lock && dladdr1(library.lock, &info, (void **)&found, RTLD_DL_SYMENT) && found)
        library.lock_is_mutex = found->st_size >= sizeof(pthread_mutex_t);
}

static int find_symbols(void)
{
    library.core = symbol("__darshan_core");
    library.clock_offset = symbol("__darshan_core_wtime_offset");
    library.initialize = (void (*)(int, char **))symbol("darshan_core_initialize");
    library.lookup_name = (char *(*)(uint64_t))symbol("darshan_core_lookup_record_name");
    library.record_id = (uint64_t(*)(const char *))symbol("darshan_core_gen_record_id");
    look_at_lock();
    if (library.core && library.clock_offset && library.initialize && library.lookup_name &&
        library.record_id && library.lock)
        return 0;
    return tfd_fail(ENOTSUP, "%s is no libdarshan of version 3.4 or 3.5: it lacks functions that they have",
                    library.path);
}

static void note_place(const void *address)
{
    Dl_info info;
    if (!dladdr(address, &info))
        return;
    library.base = info.dli_fbase;
    snprintf(library.path, sizeof library.path, "%s", info.dli_fname);
}

/* One library calls itself "3.41" in its log's header and "3.5.0" in its job's metadata. */
static int library_version(char *out, size_t capacity)
{
    const char *at = memmem((*library.core)->job, 256, "lib_ver=", 8);
    size_t length = at ? strcspn(at + 8, "\n") : 0;
    if (!at || length >= capacity)
        return -1;
    memcpy(out, at + 8, length);
    out[length] = '\0';
    return 0;
}

static int check_version(void)
{
    char version[32] = "unknown";
    const struct tfd_darshan_core *core = *library.core;
    bool named = !library_version(version, sizeof version);
    if (named && !strncmp(core->header, LOG_VERSION, 8) &&
        (!strncmp(version, "3.4.", 4) || !strncmp(version, "3.5.", 4)))
        return 0;
    return tfd_fail(
        ENOTSUP,
        "%s is version %s with log version %.8s: tfdarshan knows the records of libdarshan 3.4 and "
        "3.5 with log version " LOG_VERSION,
        library.path, version, core->header);
}

/* libdarshan fills its buffers with zeros, which touches 1 GB of pages for a
 * million records. Pages without a record go back to the kernel. */
static void release_unused(char *start, char *end)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t first = ((uintptr_t)start + page - 1) & ~(page - 1), last = (uintptr_t)end & ~(page - 1);
    if (first < last)
        madvise((void *)first, last - first, MADV_DONTNEED);
}

static void release_names(uint64_t name_bytes)
{
    const struct tfd_darshan_core *core = *library.core;
    size_t from_header = (size_t)(core->names - core->header);
    /* in builds that log into a mapped file, both are parts of one mapping */
    if (from_header < 65536 || malloc_usable_size(core->names) < name_bytes)
        return;
    release_unused(core->names, core->names + name_bytes);
}

static int initialize(const struct tfd_darshan_options *options)
{
    char **replaced = environ, **ours = environment_for_darshan(options->config_path);
    if (!ours)
        return tfd_fail(ENOMEM, "no memory to load libdarshan");
    environ = ours;
    library.handle = dlopen(options->path, RTLD_NOW | RTLD_LOCAL);
    int status = library.handle ? find_symbols() : 0;
    if (library.handle && !status) {
        note_place((const void *)library.initialize);
        tfd_never_patch(library.base);
        if (!tfd_darshan_guard_prepare(library.handle, library.base))
            status = tfd_fail(ENOTSUP, "%s wraps no function that tfdarshan knows", library.path);
    }
    if (library.handle && !status)
        library.initialize(0, NULL);
    environ = replaced; /* the copy stays: libdarshan may have kept pointers into it */
    if (!library.handle)
        return tfd_fail(ELIBACC, "%s", dlerror());
    if (!status && !*library.core)
        status = tfd_fail(ENOTSUP, "%s did not start to count in this process", library.path);
    if (!status)
        status = check_version();
    if (!status)
        release_names(options->name_bytes);
    return status;
}

int tfd_darshan_library_load(const struct tfd_darshan_options *options)
{
    if (library.state == OWN && library.pid == getpid())
        return 0;
    if (library.state != NOT_LOADED)
        return tfd_fail(EBUSY,
                        library.pid == getpid()
                            ? "another libdarshan (%s) was loaded before and cannot be used"
                            : "this process was forked after libdarshan (%s) was loaded: its records are "
                              "the parent's",
                        library.path);
    if (!tfd_fork_is_handled)
        return tfd_fail(EPERM, "libdarshan cannot be loaded before tfdarshan's fork handlers are registered");
    library.pid = getpid();
    snprintf(library.path, sizeof library.path, "%s", options->path);
    int status = initialize(options);
    if (!status)
        library.state = OWN;
    else if (library.handle)
        library.state = UNUSABLE;
    return status;
}

/* Use a copy that LD_PRELOAD or the program itself has loaded. */
int tfd_darshan_library_adopt(void)
{
    void *loaded = dlsym(RTLD_DEFAULT, "darshan_core_initialize");
    if (!loaded || library.state == OWN)
        return 0;
    note_place(loaded);
    library.handle = dlopen(library.path, RTLD_LAZY | RTLD_NOLOAD);
    if (!library.handle)
        return tfd_fail(ENOTSUP, "the libdarshan in this process (%s) cannot be looked into: %s",
                        library.path, dlerror());
    int status = find_symbols();
    if (!status && !*library.core)
        status = tfd_fail(ENOTSUP,
                          "the libdarshan in this process (%s) does not count: a job without MPI needs "
                          "DARSHAN_ENABLE_NONMPI=1 beside LD_PRELOAD",
                          library.path);
    if (!status)
        status = check_version();
    if (status)
        return status;
    library.state = FOREIGN;
    library.pid = getpid();
    return 1;
}

int tfd_darshan_record_opens(const char *first, const char *second)
{
    const char *paths[] = {first, second};
    int (*open_file)(const char *, int, ...) = (int (*)(const char *, int, ...))symbol("open");
    int (*close_file)(int) = (int (*)(int))symbol("close");
    FILE *(*open_stream)(const char *, const char *) =
        (FILE * (*)(const char *, const char *)) symbol("fopen");
    int (*close_stream)(FILE *) = (int (*)(FILE *))symbol("fclose");
    if (library.state != OWN || !open_file || !close_file || !open_stream || !close_stream)
        return tfd_fail(ENOTSUP, "%s cannot be tried", library.path);
    for (int i = 0; i < 2; i++) {
        int fd = open_file(paths[i], O_RDONLY | O_CLOEXEC);
        FILE *stream = open_stream(paths[i], "re");
        if (fd >= 0)
            close_file(fd);
        if (stream)
            close_stream(stream);
    }
    return 0;
}

static const int64_t *record_at(unsigned module, size_t record_bytes, size_t back)
{
    const struct tfd_darshan_buffer *buffer = (*library.core)->modules[module];
    return buffer ? (const int64_t *)(buffer->end - back * record_bytes) : NULL;
}

static int check_trial(unsigned module, size_t record_bytes, const char *first, const char *second)
{
    const struct tfd_darshan_buffer *buffer = (*library.core)->modules[module];
    if (!buffer || buffer->end - buffer->start < (ptrdiff_t)(2 * record_bytes) ||
        (size_t)(buffer->end - buffer->start) % record_bytes)
        return -1;
    const int64_t *before = record_at(module, record_bytes, 2), *last = record_at(module, record_bytes, 1);
    bool found =
        (uint64_t)before[0] == library.record_id(first) && (uint64_t)last[0] == library.record_id(second);
    return found && before[2] == 1 && last[2] == 1 ? 0 : -1;
}

int tfd_darshan_check_trial(const char *first, const char *second)
{
    if (!check_trial(TFD_DARSHAN_MODULE_POSIX, TFD_DARSHAN_POSIX_RECORD, first, second) &&
        !check_trial(TFD_DARSHAN_MODULE_STDIO, TFD_DARSHAN_STDIO_RECORD, first, second)) {
        struct tfd_darshan_core *core = *library.core;
        for (unsigned module = 0; module < 16; module++)
            if (module == TFD_DARSHAN_MODULE_POSIX || module == TFD_DARSHAN_MODULE_STDIO)
                release_unused(core->modules[module]->end,
                               core->modules[module]->end + core->modules[module]->available);
        return 0;
    }
    library.state = UNUSABLE;
    return tfd_fail(ENOTSUP, "%s keeps its records in another way than libdarshan 3.4 and 3.5 do",
                    library.path);
}

int tfd_darshan_check_records(unsigned module, size_t record_bytes)
{
    const struct tfd_darshan_buffer *buffer = (*library.core)->modules[module];
    size_t bytes = buffer ? (size_t)(buffer->end - buffer->start) : 0;
    if (bytes % record_bytes)
        return tfd_fail(ENOTSUP, "%s has POSIX or STDIO records of an unknown size", library.path);
    for (size_t i = 0; i < bytes / record_bytes && i < NAMES_CHECKED; i++)
        if (!library.lookup_name(*(const uint64_t *)(buffer->start + i * record_bytes)))
            return tfd_fail(ENOTSUP, "%s has records of an unknown size: record %zu has no name",
                            library.path, i);
    return 0;
}

const struct tfd_darshan_core *tfd_darshan_core(void)
{
    bool usable = (library.state == OWN || library.state == FOREIGN) && library.pid == getpid();
    return usable ? *library.core : NULL;
}

bool tfd_darshan_is_foreign(void)
{
    return library.state == FOREIGN;
}

const char *tfd_darshan_record_name(uint64_t id)
{
    return tfd_darshan_core() ? library.lookup_name(id) : NULL;
}

void tfd_darshan_core_lock(void)
{
    if (library.lock_is_mutex) {
        pthread_mutex_lock(library.lock);
        return;
    }
    while (atomic_flag_test_and_set((atomic_flag *)library.lock))
        sched_yield();
}

void tfd_darshan_core_unlock(void)
{
    if (library.lock_is_mutex)
        pthread_mutex_unlock(library.lock);
    else
        atomic_flag_clear((atomic_flag *)library.lock);
}

int tfd_darshan_describe(struct tfd_darshan_info *info)
{
    *info = (struct tfd_darshan_info){0};
    const struct tfd_darshan_core *core = tfd_darshan_core();
    if (!core)
        return tfd_fail(EINVAL, "no libdarshan counts in this process");
    snprintf(info->path, sizeof info->path, "%s", library.path);
    snprintf(info->log_version, sizeof info->log_version, "%.8s", core->header);
    library_version(info->version, sizeof info->version);
    info->foreign = library.state == FOREIGN;
    info->clock_offset_s = *library.clock_offset;
    info->nested_calls = atomic_load(&tfd_gate_nested_calls);
    for (unsigned hook = 0; hook < TFD_HOOK_COUNT; hook++)
        info->wrapped += tfd_darshan_wraps(hook);
    for (unsigned i = 0; i < 2; i++) {
        const struct tfd_darshan_buffer *buffer =
            core->modules[i ? TFD_DARSHAN_MODULE_STDIO : TFD_DARSHAN_MODULE_POSIX];
        size_t record_bytes = i ? TFD_DARSHAN_STDIO_RECORD : TFD_DARSHAN_POSIX_RECORD;
        info->records_left[i] = buffer ? buffer->available / record_bytes : UINT64_MAX;
    }
    return 0;
}

/* libdarshan's own fork handler comes after ours. It would shut down and start
 * again, waiting for locks that nobody in the child releases. Without a core it
 * does nothing. A foreign copy is left alone. */
void tfd_darshan_library_reset_in_child(void)
{
    if (library.state != OWN && library.state != UNUSABLE)
        return;
    if (library.core)
        *library.core = NULL;
    if (library.lock && library.lock_is_mutex)
        pthread_mutex_init(library.lock, NULL);
    else if (library.lock)
        atomic_flag_clear((atomic_flag *)library.lock);
}
