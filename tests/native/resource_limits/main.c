/* Under the host's resource limits a session works, or does not start and says why. The host is never affected. */
#define _GNU_SOURCE
#include <sys/resource.h>

#include "children.h"
#include "recorded.h"

static char path[PATH_MAX];
static const char *directory;

static void limit(int resource, rlim_t value)
{
    CHECK(setrlimit(resource, &(struct rlimit){value, value}) == 0);
}

static void read_once(void)
{
    char bytes[10];
    int fd = open(path, O_RDONLY);
    CHECK(fd >= 0 && pread(fd, bytes, sizeof bytes, 0) == sizeof bytes && close(fd) == 0);
}

/* The session works. */
static void check_works(uint64_t capacity_bytes)
{
    struct tfd_options options = check_options(directory);
    options.capacity_bytes = capacity_bytes;
    check_start_with(&options);
    read_once();
    check_stop();
    CHECK_EQUAL(recorded_here(directory, path, TFD_OP_PREAD).calls, 1);
    check_drop_spool(directory, getpid());
}

/* It does not start: one sentence, nothing attached, no file left. */
static void check_refused(uint64_t capacity_bytes, int error)
{
    struct tfd_attach_report report;
    struct tfd_options options = check_options(directory);
    options.capacity_bytes = capacity_bytes;
    CHECK_EQUAL(tfd_session_start(&options, &report), -error);
    CHECK(strlen(tfd_last_error()) > 20);
    CHECK(!tfd_session_active());
    CHECK_EQUAL(tfd_slots_holding_wrappers(), 0);
    CHECK(!recorded_exists(directory, getpid()));
}

/* A spool longer than the largest file would end the host with SIGXFSZ. */
static void limit_file_size(void)
{
    limit(RLIMIT_FSIZE, 8u << 20);
    check_works(64u << 20);
    limit(RLIMIT_FSIZE, 1000);
    check_refused(64u << 20, EFBIG);
    read_once();
}

static void limit_address_space(void)
{
    limit(RLIMIT_AS, 2ul << 30);
    check_works(64u << 20);
    check_refused(4ul << 30, ENOMEM);
    check_works(64u << 20);
}

static void limit_descriptors(void)
{
    limit(RLIMIT_NOFILE, 0);
    check_refused(64u << 20, EMFILE);
}

/* In the midst of a session, and in a child of it, no descriptor is to be had. */
static void exhaust_descriptors(void)
{
    int first, fd, last = -1;
    check_start(directory);
    CHECK((first = open(path, O_RDONLY)) >= 0);
    limit(RLIMIT_NOFILE, 64);
    while ((fd = dup(first)) >= 0)
        last = fd;
    CHECK(errno == EMFILE && last == 63);
    pid_t pid = child_fork();
    if (!pid) {
        char byte;
        CHECK(pread(last, &byte, 1, 0) == 1);
        _exit(0);
    }
    CHECK_EQUAL(child_wait(pid), 0);
    CHECK(close(last) == 0 && close(last - 1) == 0);
    read_once();
    check_stop();
    CHECK_EQUAL(recorded_here(directory, path, TFD_OP_PREAD).calls, 1);
}

/* Nor at the end, where the list of mappings cannot be read: each slot gets its value back all the same. */
static void stop_without_descriptors(void)
{
    struct rlimit few;
    check_start(directory);
    read_once();
    CHECK(getrlimit(RLIMIT_NOFILE, &few) == 0);
    CHECK(setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, few.rlim_max}) == 0);
    CHECK(open(path, O_RDONLY) < 0 && errno == EMFILE);
    check_stop();
    CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
    CHECK_EQUAL(recorded_here(directory, path, TFD_OP_PREAD).calls, 1);
    check_drop_spool(directory, getpid());
    check_works(64u << 20);
}

static void lock_no_memory(void)
{
    limit(RLIMIT_MEMLOCK, 0);
    check_works(64u << 20);
}

int main(int argc, char **argv)
{
    void (*const limits[])(void) = {limit_file_size,     limit_address_space,      limit_descriptors,
                                    exhaust_descriptors, stop_without_descriptors, lock_no_memory};
    CHECK(argc >= 2);
    directory = argv[1];
    check_make_file(path, directory, "data", 1000);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
#ifdef __SANITIZE_ADDRESS__ /* its shadow takes more address space than any limit leaves */
        if (limits[i] == limit_address_space)
            continue;
#endif
        pid_t pid = child_fork();
        if (!pid) {
            limits[i]();
            _exit(0);
        }
        CHECK_EQUAL(child_wait(pid), 0);
    }
    return 0;
}
