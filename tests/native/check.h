/* What the hazard programs share: a check that says where it failed, a session, and files to work on. */
#ifndef CHECK_H
#define CHECK_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tfdarshan.h"

/* libFuzzer keeps the input of a program that aborts, and knows nothing of one that ends. */
static inline _Noreturn void check_failed(void)
{
#ifdef TFD_FUZZ
    abort();
#else
    _exit(1);
#endif
}

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            int check_errno = errno;                                                                         \
            fprintf(stderr, "%s:%d: not true: %s (errno %d)\n", __FILE__, __LINE__, #condition,              \
                    check_errno);                                                                            \
            check_failed();                                                                                  \
        }                                                                                                    \
    } while (0)

#define CHECK_EQUAL(found, expected)                                                                         \
    do {                                                                                                     \
        long long check_found = (long long)(found), check_expected = (long long)(expected);                  \
        if (check_found != check_expected) {                                                                 \
            fprintf(stderr, "%s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__, #found, check_found,        \
                    check_expected);                                                                         \
            check_failed();                                                                                  \
        }                                                                                                    \
    } while (0)

/* Exit status of a program that cannot try its hazard on this machine. */
#define CHECK_SKIP 77

/* How often to repeat: the program's second argument, which the test chooses by variant. */
static inline long check_repeats(int argc, char **argv, long otherwise)
{
    return argc > 2 ? atol(argv[2]) : otherwise;
}

static inline struct tfd_options check_options(const char *directory)
{
    return (struct tfd_options){
        .spool_directory = directory,
        .capacity_bytes = 64u << 20,
        .trace_limit_bytes = 32u << 20,
        .follow_children = 1,
    };
}

static inline struct tfd_attach_report check_start_with(const struct tfd_options *options)
{
    struct tfd_attach_report report = {0};
    if (tfd_session_start(options, &report)) {
        fprintf(stderr, "session did not start: %s\n", tfd_last_error());
        _exit(1);
    }
    CHECK(report.slots_patched > 0);
    CHECK_EQUAL(report.slots_refused, 0);
    return report;
}

/* Starts a session whose spool goes to `directory`; ends the program where that fails. */
static inline void check_start(const char *directory)
{
    struct tfd_options options = check_options(directory);
    check_start_with(&options);
}

/* Stopping waits a second for threads to leave the recorder. Where ThreadSanitizer makes them slow, a busy machine
 * may keep one there for longer. */
static inline int check_session_stop(struct tfd_attach_report *report)
{
    int status = tfd_session_stop(report);
#ifdef __SANITIZE_THREAD__
    if (status == -EAGAIN) {
        fprintf(stderr, "this machine is too busy: %s\n", tfd_last_error());
        _exit(CHECK_SKIP);
    }
#endif
    return status;
}

/* Stops it and checks that every patched slot holds its own value again. */
static inline void check_stop(void)
{
    struct tfd_attach_report report = {0};
    if (check_session_stop(&report)) {
        fprintf(stderr, "session did not stop: %s\n", tfd_last_error());
        _exit(1);
    }
    CHECK_EQUAL(tfd_slots_holding_wrappers(), 0);
}

static inline void check_spool_path(char path[PATH_MAX], const char *directory, int pid)
{
    CHECK(snprintf(path, PATH_MAX, "%s/%d.spool", directory, pid) < PATH_MAX);
}

/* A second session of the same process needs the name that the first one's spool has. */
static inline void check_drop_spool(const char *directory, int pid)
{
    char path[PATH_MAX];
    check_spool_path(path, directory, pid);
    CHECK(unlink(path) == 0);
}

/* `<directory>/<name>`, in a buffer of the caller's. */
static inline const char *check_path(char path[PATH_MAX], const char *directory, const char *name)
{
    CHECK(snprintf(path, PATH_MAX, "%s/%s", directory, name) < PATH_MAX);
    return path;
}

/* Makes a file of `size` zero bytes. Call it before the session starts: its calls are not to be counted. */
static inline const char *check_make_file(char path[PATH_MAX], const char *directory, const char *name,
                                          off_t size)
{
    check_path(path, directory, name);
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0644);
    CHECK(fd >= 0 && ftruncate(fd, size) == 0 && close(fd) == 0);
    return path;
}

#endif
