/* Wrappers of calls that make and free descriptors. Names that mean the same call share one body,
 * but each calls its own next function: an interposer may define only one. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "darshan/known.h"
#include "hooks/hook_table.h"
#include "recorder/recorder_calls.h"
#include "wrappers/redirect.h"
#include "wrappers/wrappers.h"

/* Open the file's copy; return a negative number if the copy is missing or no longer valid. The open and the close of
 * such a copy are recorded, since libdarshan counts them too. */
static inline int open_copy(struct tfd_redirected *file, int flags)
{
    uint64_t start = tfd_ticks();
    int saved_errno = errno;
    tfd_open_function *next = TFD_NEXT(open);
    int fd = next(tfd_redirect_copy(file), flags, 0);
    bool good = tfd_redirect_is_good(file, fd);
    if (fd >= 0)
        tfd_record_open_again(TFD_OP_OPEN, tfd_redirect_copy(file), tfd_redirect_kept(file), fd, flags,
                              start);
    if (fd >= 0 && !good) {
        tfd_wrap_close(fd);
        fd = -1;
    }
    errno = saved_errno;
    return fd;
}

static inline int copy_instead_of(int dirfd, const char *path, int flags)
{
    struct tfd_redirected *file =
        dirfd == AT_FDCWD || (path && path[0] == '/') ? tfd_redirect_find(path, flags) : NULL;
    return file ? open_copy(file, flags) : -1;
}

static inline int counted_open(tfd_open_function *next, const char *path, int flags, int mode)
{
    int copy = copy_instead_of(AT_FDCWD, path, flags);
    if (copy >= 0)
        return copy;
    uint64_t start = tfd_ticks();
    int fd = next(path, flags, mode);
    tfd_record_open(TFD_OP_OPEN, AT_FDCWD, path, fd, flags, (unsigned)mode, start);
    return fd;
}

static int mode_argument(int flags, va_list arguments)
{
    return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(arguments, int) : 0;
}

int tfd_wrap_open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    int mode = mode_argument(flags, arguments);
    va_end(arguments);
    return counted_open(TFD_NEXT(open), path, flags, mode);
}

int tfd_wrap_open64(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    int mode = mode_argument(flags, arguments);
    va_end(arguments);
    return counted_open(TFD_NEXT(open64), path, flags, mode);
}

static inline int counted_open_checked(tfd___open_2_function *next, const char *path, int flags)
{
    int copy = copy_instead_of(AT_FDCWD, path, flags);
    if (copy >= 0)
        return copy;
    uint64_t start = tfd_ticks();
    int fd = next(path, flags);
    tfd_record_open(TFD_OP_OPEN, AT_FDCWD, path, fd, flags, 0, start);
    return fd;
}

int tfd_wrap___open_2(const char *path, int flags)
{
    return counted_open_checked(TFD_NEXT(__open_2), path, flags);
}

int tfd_wrap___open64_2(const char *path, int flags)
{
    return counted_open_checked(TFD_NEXT(__open64_2), path, flags);
}

static inline int counted_openat(tfd_openat_function *next, int dirfd, const char *path, int flags, int mode)
{
    int copy = copy_instead_of(dirfd, path, flags);
    if (copy >= 0)
        return copy;
    uint64_t start = tfd_ticks();
    int fd = next(dirfd, path, flags, mode);
    tfd_record_open(TFD_OP_OPEN, dirfd, path, fd, flags, (unsigned)mode, start);
    return fd;
}

int tfd_wrap_openat(int dirfd, const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    int mode = mode_argument(flags, arguments);
    va_end(arguments);
    return counted_openat(TFD_NEXT(openat), dirfd, path, flags, mode);
}

int tfd_wrap_openat64(int dirfd, const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    int mode = mode_argument(flags, arguments);
    va_end(arguments);
    return counted_openat(TFD_NEXT(openat64), dirfd, path, flags, mode);
}

static inline int counted_openat_checked(tfd___openat_2_function *next, int dirfd, const char *path,
                                         int flags)
{
    int copy = copy_instead_of(dirfd, path, flags);
    if (copy >= 0)
        return copy;
    uint64_t start = tfd_ticks();
    int fd = next(dirfd, path, flags);
    tfd_record_open(TFD_OP_OPEN, dirfd, path, fd, flags, 0, start);
    return fd;
}

int tfd_wrap___openat_2(int dirfd, const char *path, int flags)
{
    return counted_openat_checked(TFD_NEXT(__openat_2), dirfd, path, flags);
}

int tfd_wrap___openat64_2(int dirfd, const char *path, int flags)
{
    return counted_openat_checked(TFD_NEXT(__openat64_2), dirfd, path, flags);
}

/* After a failed call `how` may be invalid memory. */
int tfd_wrap_openat2(int dirfd, const char *path, const struct open_how *how, size_t size)
{
    uint64_t start = tfd_ticks();
    int fd = TFD_NEXT(openat2)(dirfd, path, how, size);
    tfd_record_open(TFD_OP_OPEN, dirfd, path, fd, fd < 0 ? 0 : (int)how->flags,
                    fd < 0 ? 0 : (unsigned)how->mode, start);
    return fd;
}

static inline int counted_creat(tfd_creat_function *next, const char *path, mode_t mode)
{
    tfd_redirect_changes(path);
    uint64_t start = tfd_ticks();
    int fd = next(path, mode);
    tfd_record_open(TFD_OP_OPEN, AT_FDCWD, path, fd, O_CREAT | O_WRONLY | O_TRUNC, mode, start);
    return fd;
}

int tfd_wrap_creat(const char *path, mode_t mode)
{
    return counted_creat(TFD_NEXT(creat), path, mode);
}

int tfd_wrap_creat64(const char *path, mode_t mode)
{
    return counted_creat(TFD_NEXT(creat64), path, mode);
}

/* These calls have no mode, so POSIX_MODE stays unchanged. */
static inline void record_mkstemp(const char *path, int fd, int flags, uint64_t start)
{
    tfd_record_open(TFD_OP_OPEN, AT_FDCWD, path, fd, flags | O_CREAT | O_RDWR, 0, start);
}

static inline int counted_mkstemp(tfd_mkstemp_function *next, char *template)
{
    uint64_t start = tfd_ticks();
    int fd = next(template);
    record_mkstemp(template, fd, 0, start);
    return fd;
}

int tfd_wrap_mkstemp(char *template)
{
    return counted_mkstemp(TFD_NEXT(mkstemp), template);
}

int tfd_wrap_mkstemp64(char *template)
{
    return counted_mkstemp(TFD_NEXT(mkstemp64), template);
}

/* This serves mkstemps too, whose second argument is the suffix's length. Neither is recorded. */
static inline int counted_mkostemp(tfd_mkostemp_function *next, char *template, int argument)
{
    uint64_t start = tfd_ticks();
    int fd = next(template, argument);
    record_mkstemp(template, fd, 0, start);
    return fd;
}

int tfd_wrap_mkostemp(char *template, int flags)
{
    return counted_mkostemp(TFD_NEXT(mkostemp), template, flags);
}

int tfd_wrap_mkostemp64(char *template, int flags)
{
    return counted_mkostemp(TFD_NEXT(mkostemp64), template, flags);
}

int tfd_wrap_mkstemps(char *template, int suffix_length)
{
    return counted_mkostemp(TFD_NEXT(mkstemps), template, suffix_length);
}

int tfd_wrap_mkstemps64(char *template, int suffix_length)
{
    return counted_mkostemp(TFD_NEXT(mkstemps64), template, suffix_length);
}

static inline int counted_mkostemps(tfd_mkostemps_function *next, char *template, int suffix_length,
                                    int flags)
{
    uint64_t start = tfd_ticks();
    int fd = next(template, suffix_length, flags);
    record_mkstemp(template, fd, flags, start);
    return fd;
}

int tfd_wrap_mkostemps(char *template, int suffix_length, int flags)
{
    return counted_mkostemps(TFD_NEXT(mkostemps), template, suffix_length, flags);
}

int tfd_wrap_mkostemps64(char *template, int suffix_length, int flags)
{
    return counted_mkostemps(TFD_NEXT(mkostemps64), template, suffix_length, flags);
}

int tfd_wrap_close(int fd)
{
    uint64_t word = tfd_forget(fd), start = tfd_ticks();
    int status = TFD_NEXT(close)(fd);
    tfd_record_close(TFD_OP_CLOSE, word, status < 0, start);
    return status;
}

int tfd_wrap_close_range(unsigned first, unsigned last, int flags)
{
    if (!((unsigned)flags & CLOSE_RANGE_CLOEXEC)) {
        tfd_darshan_forget_range(first, last);
        tfd_forget_range(first, last);
    }
    return TFD_NEXT(close_range)(first, last, flags);
}

void tfd_wrap_closefrom(int first)
{
    unsigned lowest = first < 0 ? 0 : (unsigned)first;
    tfd_darshan_forget_range(lowest, UINT32_MAX);
    tfd_forget_range(lowest, UINT32_MAX);
    TFD_NEXT(closefrom)(first);
}

/* This only forgets the descriptor, whose number is free again. */
int tfd_wrap_closedir(DIR *directory)
{
    if (directory) {
        tfd_forget(dirfd(directory));
        tfd_darshan_forget(dirfd(directory));
    }
    return TFD_NEXT(closedir)(directory);
}

int tfd_wrap_dup(int fd)
{
    uint64_t start = tfd_ticks();
    int copy = TFD_NEXT(dup)(fd);
    tfd_record_dup(fd, copy, start);
    return copy;
}

int tfd_wrap_dup2(int fd, int copy)
{
    if (fd == copy)
        return TFD_NEXT(dup2)(fd, copy);
    tfd_forget(copy);
    uint64_t start = tfd_ticks();
    int result = TFD_NEXT(dup2)(fd, copy);
    tfd_record_dup(fd, result, start);
    return result;
}

int tfd_wrap_dup3(int fd, int copy, int flags)
{
    if (fd != copy)
        tfd_forget(copy);
    uint64_t start = tfd_ticks();
    int result = TFD_NEXT(dup3)(fd, copy, flags);
    tfd_record_dup(fd, result, start);
    return result;
}

static inline int counted_fcntl(tfd_fcntl_function *next, int fd, int command, void *argument)
{
    bool duplicates = command == F_DUPFD || command == F_DUPFD_CLOEXEC;
    uint64_t start = duplicates ? tfd_ticks() : 0;
    int result = next(fd, command, argument);
    if (duplicates)
        tfd_record_dup(fd, result, start);
    else if (command == F_SETFL && result >= 0)
        tfd_record_status_flags(fd, (int)(intptr_t)argument);
    return result;
}

int tfd_wrap_fcntl(int fd, int command, ...)
{
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    return counted_fcntl(TFD_NEXT(fcntl), fd, command, argument);
}

int tfd_wrap_fcntl64(int fd, int command, ...)
{
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    return counted_fcntl(TFD_NEXT(fcntl64), fd, command, argument);
}
