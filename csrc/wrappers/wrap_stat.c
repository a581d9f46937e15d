/* Wrappers of stat() calls, by the names of old glibc (__xstat) and of glibc since 2.33 (stat). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "hooks/hook_table.h"
#include "recorder/recorder_calls.h"
#include "wrappers/wrappers.h"

static int64_t size_of(const struct stat *status)
{
    return S_ISREG(status->st_mode) ? status->st_size : -1;
}

static int record_stat(int result, int dirfd, const char *path, const struct stat *status, uint64_t start)
{
    tfd_record_path(TFD_OP_STAT, dirfd, path, result ? 0 : size_of(status), result, start);
    return result;
}

static int record_fstat(int result, int fd, const struct stat *status, uint64_t start)
{
    tfd_record_descriptor(TFD_OP_FSTAT, fd, -1, result ? 0 : size_of(status), result, start);
    return result;
}

/* An empty path with AT_EMPTY_PATH means the descriptor itself. */
static int record_fstatat(int result, int dirfd, const char *path, const struct stat *status, int flags,
                          uint64_t start)
{
    if ((flags & AT_EMPTY_PATH) && (!path || !path[0]))
        return record_fstat(result, dirfd, status, start);
    return record_stat(result, dirfd, path, status, start);
}

int tfd_wrap_stat(const char *path, struct stat *status)
{
    uint64_t start = tfd_ticks();
    return record_stat(TFD_NEXT(stat)(path, status), AT_FDCWD, path, status, start);
}

int tfd_wrap_stat64(const char *path, struct stat64 *status)
{
    uint64_t start = tfd_ticks();
    return record_stat(TFD_NEXT(stat64)(path, status), AT_FDCWD, path, (struct stat *)status, start);
}

int tfd_wrap_lstat(const char *path, struct stat *status)
{
    uint64_t start = tfd_ticks();
    return record_stat(TFD_NEXT(lstat)(path, status), AT_FDCWD, path, status, start);
}

int tfd_wrap_lstat64(const char *path, struct stat64 *status)
{
    uint64_t start = tfd_ticks();
    return record_stat(TFD_NEXT(lstat64)(path, status), AT_FDCWD, path, (struct stat *)status, start);
}

int tfd_wrap_fstatat(int dirfd, const char *path, struct stat *status, int flags)
{
    uint64_t start = tfd_ticks();
    int result = TFD_NEXT(fstatat)(dirfd, path, status, flags);
    return record_fstatat(result, dirfd, path, status, flags, start);
}

int tfd_wrap_fstatat64(int dirfd, const char *path, struct stat64 *status, int flags)
{
    uint64_t start = tfd_ticks();
    int result = TFD_NEXT(fstatat64)(dirfd, path, status, flags);
    return record_fstatat(result, dirfd, path, (struct stat *)status, flags, start);
}

int tfd_wrap_statx(int dirfd, const char *path, int flags, unsigned mask, struct statx *status)
{
    uint64_t start = tfd_ticks();
    int result = TFD_NEXT(statx)(dirfd, path, flags, mask, status);
    struct stat known = {0};
    if (!result) {
        known.st_mode = status->stx_mode;
        known.st_size = (off_t)status->stx_size;
    }
    return record_fstatat(result, dirfd, path, &known, flags, start);
}

int tfd_wrap___xstat(int version, const char *path, struct stat *status)
{
    uint64_t start = tfd_ticks();
    return record_stat(TFD_NEXT(__xstat)(version, path, status), AT_FDCWD, path, status, start);
}

int tfd_wrap___xstat64(int version, const char *path, struct stat64 *status)
{
    uint64_t start = tfd_ticks();
    int result = TFD_NEXT(__xstat64)(version, path, status);
    return record_stat(result, AT_FDCWD, path, (struct stat *)status, start);
}

int tfd_wrap___lxstat(int version, const char *path, struct stat *status)
{
    uint64_t start = tfd_ticks();
    return record_stat(TFD_NEXT(__lxstat)(version, path, status), AT_FDCWD, path, status, start);
}

int tfd_wrap___lxstat64(int version, const char *path, struct stat64 *status)
{
    uint64_t start = tfd_ticks();
    int result = TFD_NEXT(__lxstat64)(version, path, status);
    return record_stat(result, AT_FDCWD, path, (struct stat *)status, start);
}

int tfd_wrap___fxstatat(int version, int dirfd, const char *path, struct stat *status, int flags)
{
    uint64_t start = tfd_ticks();
    int result = TFD_NEXT(__fxstatat)(version, dirfd, path, status, flags);
    return record_fstatat(result, dirfd, path, status, flags, start);
}

int tfd_wrap___fxstatat64(int version, int dirfd, const char *path, struct stat64 *status, int flags)
{
    uint64_t start = tfd_ticks();
    int result = TFD_NEXT(__fxstatat64)(version, dirfd, path, status, flags);
    return record_fstatat(result, dirfd, path, (struct stat *)status, flags, start);
}

int tfd_wrap_fstat(int fd, struct stat *status)
{
    uint64_t start = tfd_ticks();
    return record_fstat(TFD_NEXT(fstat)(fd, status), fd, status, start);
}

int tfd_wrap_fstat64(int fd, struct stat64 *status)
{
    uint64_t start = tfd_ticks();
    return record_fstat(TFD_NEXT(fstat64)(fd, status), fd, (struct stat *)status, start);
}

int tfd_wrap___fxstat(int version, int fd, struct stat *status)
{
    uint64_t start = tfd_ticks();
    return record_fstat(TFD_NEXT(__fxstat)(version, fd, status), fd, status, start);
}

int tfd_wrap___fxstat64(int version, int fd, struct stat64 *status)
{
    uint64_t start = tfd_ticks();
    return record_fstat(TFD_NEXT(__fxstat64)(version, fd, status), fd, (struct stat *)status, start);
}
