/* Wrappers of calls that rename, remove and truncate files. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "hooks/hook_table.h"
#include "recorder/recorder_calls.h"
#include "wrappers/redirect.h"
#include "wrappers/wrappers.h"

int tfd_wrap_rename(const char *old_path, const char *new_path)
{
    tfd_redirect_renames(AT_FDCWD, old_path, AT_FDCWD, new_path);
    uint64_t start = tfd_ticks();
    int status = TFD_NEXT(rename)(old_path, new_path);
    tfd_record_rename(AT_FDCWD, old_path, AT_FDCWD, new_path, false, status < 0, start);
    return status;
}

int tfd_wrap_renameat(int old_dirfd, const char *old_path, int new_dirfd, const char *new_path)
{
    tfd_redirect_renames(old_dirfd, old_path, new_dirfd, new_path);
    uint64_t start = tfd_ticks();
    int status = TFD_NEXT(renameat)(old_dirfd, old_path, new_dirfd, new_path);
    tfd_record_rename(old_dirfd, old_path, new_dirfd, new_path, false, status < 0, start);
    return status;
}

int tfd_wrap_renameat2(int old_dirfd, const char *old_path, int new_dirfd, const char *new_path,
                       unsigned flags)
{
    tfd_redirect_renames(old_dirfd, old_path, new_dirfd, new_path);
    uint64_t start = tfd_ticks();
    int status = TFD_NEXT(renameat2)(old_dirfd, old_path, new_dirfd, new_path, flags);
    tfd_record_rename(old_dirfd, old_path, new_dirfd, new_path, flags & RENAME_EXCHANGE, status < 0, start);
    return status;
}

int tfd_wrap_unlink(const char *path)
{
    tfd_redirect_changes(path);
    uint64_t start = tfd_ticks();
    int status = TFD_NEXT(unlink)(path);
    tfd_record_path(TFD_OP_UNLINK, AT_FDCWD, path, 0, status < 0, start);
    return status;
}

int tfd_wrap_unlinkat(int dirfd, const char *path, int flags)
{
    tfd_redirect_changes_at(dirfd, path);
    uint64_t start = tfd_ticks();
    int status = TFD_NEXT(unlinkat)(dirfd, path, flags);
    if (!(flags & AT_REMOVEDIR))
        tfd_record_path(TFD_OP_UNLINK, dirfd, path, 0, status < 0, start);
    return status;
}

/* The C library removes a folder by rmdir(), which is not recorded. Afterwards nothing tells what it was. */
static bool is_folder(const char *path)
{
    struct stat status;
    int saved_errno = errno;
    bool found =
        !syscall(SYS_newfstatat, AT_FDCWD, path, &status, AT_SYMLINK_NOFOLLOW) && S_ISDIR(status.st_mode);
    errno = saved_errno;
    return found;
}

int tfd_wrap_remove(const char *path)
{
    tfd_redirect_changes(path);
    bool folder = is_folder(path);
    uint64_t start = tfd_ticks();
    int status = TFD_NEXT(remove)(path);
    if (!folder)
        tfd_record_path(TFD_OP_UNLINK, AT_FDCWD, path, 0, status < 0, start);
    return status;
}

int tfd_wrap_truncate(const char *path, off_t length)
{
    tfd_redirect_changes(path);
    uint64_t start = tfd_ticks();
    int status = TFD_NEXT(truncate)(path, length);
    tfd_record_path(TFD_OP_TRUNCATE, AT_FDCWD, path, length, status < 0, start);
    return status;
}

int tfd_wrap_truncate64(const char *path, off64_t length)
{
    tfd_redirect_changes(path);
    uint64_t start = tfd_ticks();
    int status = TFD_NEXT(truncate64)(path, length);
    tfd_record_path(TFD_OP_TRUNCATE, AT_FDCWD, path, length, status < 0, start);
    return status;
}

int tfd_wrap_ftruncate(int fd, off_t length)
{
    uint64_t start = tfd_ticks();
    int status = TFD_NEXT(ftruncate)(fd, length);
    tfd_record_descriptor(TFD_OP_TRUNCATE, fd, -1, status < 0 ? 0 : length, status < 0, start);
    return status;
}

int tfd_wrap_ftruncate64(int fd, off64_t length)
{
    uint64_t start = tfd_ticks();
    int status = TFD_NEXT(ftruncate64)(fd, length);
    tfd_record_descriptor(TFD_OP_TRUNCATE, fd, -1, status < 0 ? 0 : length, status < 0, start);
    return status;
}
