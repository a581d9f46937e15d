/* The spool's file system is full: the job goes on without SIGBUS, and the counters are kept. */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "counted.h"
#include "counters/counters.h"
#include "spool/spool.h"

#define FILES 3000
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

static bool kernel_is_old;

/* Stands before the C library's, also for the core: before Linux 5.14 blocks cannot be asked for this way. */
int madvise(void *address, size_t length, int advice)
{
    if (kernel_is_old && advice == MADV_POPULATE_WRITE) {
        errno = EINVAL;
        return -1;
    }
    return (int)syscall(SYS_madvise, address, length, advice);
}

/* A small tmpfs that only this process sees; false where the machine does not let us. */
static bool mount_small(const char *directory)
{
    if (unshare(CLONE_NEWNS) && unshare(CLONE_NEWUSER | CLONE_NEWNS))
        return false;
    return !mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) &&
           !mount("tmpfs", directory, "tmpfs", 0, "size=1m");
}

static uint64_t shared_rows(struct tfd_reader *reader)
{
    static int64_t counters[TFD_COUNTER_COUNT];
    static double f_counters[TFD_F_COUNTER_COUNT];
    uint64_t shared = 0;
    uint32_t file;
    uint8_t module;
    int32_t mount;
    int64_t size;
    struct tfd_file_batch batch = {&file, &module, &mount, &size, counters, f_counters};
    for (uint64_t row = 0; tfd_reader_files(reader, row, 1, &batch) == 1; row++)
        shared += file == TFD_FILE_OVERFLOW;
    return shared;
}

static void check_fills_up(const char *directory, const char *path, long reads)
{
    char bytes[10], missing[PATH_MAX], name[40];
    struct tfd_options options = check_options(directory);
    check_start_with(&options);
    int fd = open(path, O_RDONLY);
    CHECK(fd >= 0);
    for (long i = 0; i < reads; i++)
        CHECK_EQUAL(pread(fd, bytes, sizeof bytes, 0), sizeof bytes);
    for (int i = 0; i < FILES; i++) {
        snprintf(name, sizeof name, "missing%d", i);
        CHECK(open(check_path(missing, directory, name), O_RDONLY) < 0 && errno == ENOENT);
    }
    CHECK(close(fd) == 0);
    check_stop();
    struct tfd_reader *reader = counted_open(directory, getpid());
    struct tfd_spool_info info = counted_info(reader);
    CHECK_EQUAL(info.spool_full, 1);
    CHECK_EQUAL(info.damaged, 0);
    CHECK_EQUAL(info.events, reads + FILES + 2);
    CHECK_EQUAL(info.segments + info.events_dropped, info.events);
    /* a file has a row of its own, or its first open was one of those that share one */
    CHECK_EQUAL(info.file_rows - shared_rows(reader) + info.files_over_cap, FILES + 1);
    CHECK_EQUAL(shared_rows(reader), info.files_over_cap > 0);
    CHECK_EQUAL(counted_sum(reader, path, "POSIX_READS"), reads);
    tfd_reader_close(reader);
    check_drop_spool(directory, getpid());
}

/* No room for the spool's first blocks: one sentence, nothing attached, no file left. */
static void check_refused(const char *directory)
{
    char ballast[PATH_MAX];
    struct tfd_attach_report report;
    struct tfd_options options = check_options(directory);
    int fd = open(check_path(ballast, directory, "ballast"), O_CREAT | O_WRONLY, 0600);
    CHECK(fd >= 0 && posix_fallocate(fd, 0, 1000 << 10) == 0 && close(fd) == 0);
    CHECK_EQUAL(tfd_session_start(&options, &report), -ENOSPC);
    CHECK(strstr(tfd_last_error(), directory));
    CHECK(!tfd_session_active());
    CHECK_EQUAL(tfd_slots_holding_wrappers(), 0);
    check_spool_path(ballast, directory, getpid());
    CHECK(access(ballast, F_OK) < 0);
    CHECK(unlink(check_path(ballast, directory, "ballast")) == 0);
}

int main(int argc, char **argv)
{
    char path[PATH_MAX], small[PATH_MAX];
    CHECK(argc >= 2);
    check_make_file(path, argv[1], "data", 1000);
    CHECK(mkdir(check_path(small, argv[1], "small"), 0700) == 0);
    if (!mount_small(small))
        return CHECK_SKIP;
    for (int old = 0; old < 2; old++) {
        kernel_is_old = old;
        check_fills_up(small, path, check_repeats(argc, argv, 100000));
        check_refused(small);
    }
    return 0;
}
