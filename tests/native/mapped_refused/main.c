/* Kernels, containers and sandboxes refuse calls of the watcher of mapped files. The program goes on as without it,
 * keeps its descriptors and errno, and unseen figures are reported as unknown. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "children.h"
#include "recorded.h"
#include "spool/mapped_file.h"

#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif
#define BYTES (64 * 4096)
#define ANY_WATCH UINT32_MAX
#define INHERIT_THREAD (1ull << 35)

struct refusal {
    const char *name;
    bool (*refuses)(long number, const long *arguments);
    int error;      /* that the call fails with; 0: it does nothing and succeeds */
    uint32_t watch; /* what is said then */
    bool bytes_known;
};

static const struct refusal *active;
static char path[PATH_MAX];
static volatile char sum;

static bool perf(long number, const long *arguments)
{
    (void)arguments;
    return number == SYS_perf_event_open;
}

/* As before Linux 5.13: children of fork could not be left out, so events are opened for each thread alone. */
static bool perf_with_unknown_flag(long number, const long *arguments)
{
    return number == SYS_perf_event_open && arguments[2] >= 0;
}

static bool perf_after_the_first(long number, const long *arguments)
{
    static int calls;
    return perf(number, arguments) && calls++;
}

static bool close_range_at_all(long number, const long *arguments)
{
    (void)arguments;
    return number == SYS_close_range;
}

/* An emulated kernel that knows the call and not its flags: it must never be asked to close everything. */
static bool close_range_without_flags(long number, const long *arguments)
{
    CHECK(number != SYS_close_range || arguments[0] != 0);
    return number == SYS_close_range;
}

static bool cachestat(long number, const long *arguments)
{
    (void)arguments;
    return number == SYS_cachestat;
}

static bool everything(long number, const long *arguments)
{
    return perf(number, arguments) || close_range_at_all(number, arguments) || cachestat(number, arguments) ||
           number == SYS_pidfd_open || number == SYS_pidfd_getfd;
}

static bool nothing(long number, const long *arguments)
{
    (void)number, (void)arguments;
    return false;
}

static const struct refusal refusals[] = {
    {"perf_event_paranoid 3", perf, EACCES, TFD_FAULTS_NO_EVENTS, true},
    {"a container's filter", perf, EPERM, TFD_FAULTS_NO_EVENTS, true},
    {"a kernel without perf", perf, ENOSYS, TFD_FAULTS_NO_EVENTS, true},
    {"Linux before 5.13", perf_with_unknown_flag, EINVAL, ANY_WATCH, true},
    {"a filter that counts", perf_after_the_first, EPERM, TFD_FAULTS_NO_EVENTS, true},
    {"no descriptor is left", perf_after_the_first, EMFILE, TFD_FAULTS_TOO_MANY, true},
    {"Linux before 5.9", close_range_at_all, ENOSYS, TFD_FAULTS_NO_TABLE, false},
    {"flags that nobody looks at", close_range_without_flags, 0, TFD_FAULTS_NO_TABLE, false},
    {"Linux before 6.5", cachestat, ENOSYS, ANY_WATCH, false},
    {"a file of another user", cachestat, EPERM, ANY_WATCH, false},
    {"a sandbox", everything, ENOSYS, TFD_FAULTS_NO_TABLE, false},
    {"no thread", nothing, 0, TFD_FAULTS_NO_THREAD, false},
};

long syscall(long number, ...)
{
    static long (*next)(long number, ...);
    long arguments[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        arguments[i] = va_arg(list, long);
    va_end(list);
    if (active && active->refuses(number, arguments)) {
        errno = active->error;
        return active->error ? -1 : 0;
    }
    if (!next)
        next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    return next(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
}

#ifndef __SANITIZE_ADDRESS__
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*begin)(void *),
                   void *argument)
{
    typedef int create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    create *next = (create *)dlsym(RTLD_NEXT, "pthread_create");
    return active && active->watch == TFD_FAULTS_NO_THREAD ? EAGAIN
                                                           : next(thread, attributes, begin, argument);
}
#endif

static int open_descriptors(void)
{
    int count = 0;
    for (int fd = 0; fd < 1024; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static void read_mapped(void)
{
    int fd = open(path, O_RDONLY), before = open_descriptors();
    CHECK(fd >= 0);
    errno = ERANGE;
    const char *mapped = mmap(NULL, BYTES, PROT_READ, MAP_PRIVATE, fd, 0);
    CHECK(mapped != MAP_FAILED);
    CHECK_EQUAL(errno, ERANGE);
    CHECK_EQUAL(open_descriptors(), before);
    errno = ERANGE;
    for (size_t at = 0; at < BYTES; at += 4096)
        sum += mapped[at];
    CHECK(!munmap((void *)mapped, BYTES));
    CHECK_EQUAL(errno, ERANGE);
    CHECK(!close(fd));
}

static bool is_refusal(int error)
{
    return error == EPERM || error == EACCES || error == ENOSYS;
}

static void check_said(const char *spools)
{
    struct tfd_spool spool = recorded_open(spools, getpid());
    CHECK(atomic_load(&spool.header->mapped_files));
    const struct tfd_mapped_files *list = tfd_at(&spool, atomic_load(&spool.header->mapped_files));
    const struct tfd_mapped_file *file = tfd_at(&spool, list->first);
    bool perf_is_refused_here = list->watch == TFD_FAULTS_NO_EVENTS && is_refusal(list->error);
    if (active->watch != ANY_WATCH && !(perf_is_refused_here && active->watch == TFD_FAULTS_TOO_MANY)) {
        CHECK_EQUAL(list->watch, active->watch);
        CHECK_EQUAL(list->error, active->watch == TFD_FAULTS_NO_THREAD ? EAGAIN
                                 : active->error                       ? active->error
                                                                       : list->error);
    }
    CHECK_EQUAL(file->mappings, 1);
    if (list->watch != TFD_FAULTS_WATCHED)
        CHECK_EQUAL(file->faults, 0);
    else
        CHECK(file->faults > 0);
    if (!active->bytes_known)
        CHECK(file->bytes_in < 0 || file->bytes_missed);
    recorded_close(&spool);
}

static void be_refused(const char *directory)
{
    char spools[PATH_MAX], name[16];
    snprintf(name, sizeof name, "%d", (int)getpid());
    CHECK(!mkdir(check_path(spools, directory, name), 0700));
    struct tfd_options options = check_options(spools);
    options.mapped = 1;
    check_start_with(&options);
    read_mapped();
    check_stop();
    check_said(spools);
    _exit(0);
}

int main(int argc, char **argv)
{
    CHECK(argc >= 2);
    check_make_file(path, argv[1], "mapped", BYTES);
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
#ifdef __SANITIZE_ADDRESS__ /* which makes threads itself */
        if (refusals[i].watch == TFD_FAULTS_NO_THREAD)
            continue;
#endif
        pid_t pid = child_fork();
        if (!pid) {
            active = &refusals[i];
            be_refused(argv[1]);
        }
        int status = child_wait(pid);
        if (status)
            fprintf(stderr, "refused: %s\n", refusals[i].name);
        CHECK_EQUAL(status, 0);
    }
    return 0;
}
