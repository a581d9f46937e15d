/* The bodies that several POSIX symbols share. */
#ifndef TFD_WRAP_POSIX_CALLS_H
#define TFD_WRAP_POSIX_CALLS_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

#include "hooks/hook_table.h"
#include "recorder/emit.h"
#include "recorder/recorder_calls.h"
#include "recorder/transfer.h"
#include "wrappers/redirect.h"
#include "wrappers/wrappers.h"

/* Opens the file's copy: negative where that is not there or not good any more. A copy that is opened and
 * closed again is recorded as that: libdarshan counts it too. */
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

static inline int counted_creat(tfd_creat_function *next, const char *path, mode_t mode)
{
    tfd_redirect_changes(path);
    uint64_t start = tfd_ticks();
    int fd = next(path, mode);
    tfd_record_open(TFD_OP_OPEN, AT_FDCWD, path, fd, O_CREAT | O_WRONLY | O_TRUNC, mode, start);
    return fd;
}

/* These have no mode argument, and so POSIX_MODE stays as it was. */
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

/* Also mkstemps, whose second argument is the suffix's length: neither matters here. */
static inline int counted_mkostemp(tfd_mkostemp_function *next, char *template, int argument)
{
    uint64_t start = tfd_ticks();
    int fd = next(template, argument);
    record_mkstemp(template, fd, 0, start);
    return fd;
}

static inline int counted_mkostemps(tfd_mkostemps_function *next, char *template, int suffix_length,
                                    int flags)
{
    uint64_t start = tfd_ticks();
    int fd = next(template, suffix_length, flags);
    record_mkstemp(template, fd, flags, start);
    return fd;
}

/* After a failed call the vector may be no valid memory. */
static inline uint8_t vector_alignment_flag(const struct iovec *vector, int count, ssize_t result)
{
    uintptr_t bits = 0;
    if (result < 0)
        return 0;
    for (int i = 0; i < count; i++)
        bits |= (uintptr_t)vector[i].iov_base;
    return tfd_alignment_flag((const void *)bits);
}

static inline TFD_HOT ssize_t counted_read(tfd_read_function *next, int fd, void *buffer, size_t count)
{
    uint64_t start = tfd_ticks();
    ssize_t got = next(fd, buffer, count);
    tfd_record_transfer(TFD_OP_READ, false, fd, true, -1, got, tfd_alignment_flag(buffer), start);
    return got;
}

static inline TFD_HOT ssize_t counted_pread(tfd_pread_function *next, int fd, void *buffer, size_t count,
                                            off_t offset)
{
    uint64_t start = tfd_ticks();
    ssize_t got = next(fd, buffer, count, offset);
    tfd_record_transfer(TFD_OP_PREAD, false, fd, false, offset, got, tfd_alignment_flag(buffer), start);
    return got;
}

static inline ssize_t counted_pread_checked(tfd___pread_chk_function *next, int fd, void *buffer,
                                            size_t count, off_t offset, size_t buffer_size)
{
    uint64_t start = tfd_ticks();
    ssize_t got = next(fd, buffer, count, offset, buffer_size);
    tfd_record_transfer(TFD_OP_PREAD, false, fd, false, offset, got, tfd_alignment_flag(buffer), start);
    return got;
}

static inline ssize_t counted_preadv(tfd_preadv_function *next, int fd, const struct iovec *vector, int count,
                                     off_t offset)
{
    uint64_t start = tfd_ticks();
    ssize_t got = next(fd, vector, count, offset);
    tfd_record_transfer(TFD_OP_PREADV, false, fd, false, offset, got,
                        vector_alignment_flag(vector, count, got), start);
    return got;
}

/* Offset -1 means the descriptor's own position: then it is a readv. */
static inline ssize_t counted_preadv2(tfd_preadv2_function *next, int fd, const struct iovec *vector,
                                      int count, off_t offset, int flags)
{
    uint64_t start = tfd_ticks();
    ssize_t got = next(fd, vector, count, offset, flags);
    tfd_record_transfer(offset == -1 ? TFD_OP_READV : TFD_OP_PREADV, false, fd, offset == -1, offset, got,
                        vector_alignment_flag(vector, count, got), start);
    return got;
}

static inline ssize_t counted_pwrite(tfd_pwrite_function *next, int fd, const void *buffer, size_t count,
                                     off_t offset)
{
    uint64_t start = tfd_ticks();
    ssize_t put = next(fd, buffer, count, offset);
    tfd_record_transfer(TFD_OP_PWRITE, true, fd, false, offset, put, tfd_alignment_flag(buffer), start);
    return put;
}

static inline ssize_t counted_pwritev(tfd_pwritev_function *next, int fd, const struct iovec *vector,
                                      int count, off_t offset)
{
    uint64_t start = tfd_ticks();
    ssize_t put = next(fd, vector, count, offset);
    tfd_record_transfer(TFD_OP_PWRITEV, true, fd, false, offset, put,
                        vector_alignment_flag(vector, count, put), start);
    return put;
}

static inline ssize_t counted_pwritev2(tfd_pwritev2_function *next, int fd, const struct iovec *vector,
                                       int count, off_t offset, int flags)
{
    uint64_t start = tfd_ticks();
    ssize_t put = next(fd, vector, count, offset, flags);
    uint8_t appends = flags & RWF_APPEND ? TFD_FLAG_APPEND : 0;
    tfd_record_transfer(offset == -1 ? TFD_OP_WRITEV : TFD_OP_PWRITEV, true, fd, offset == -1, offset, put,
                        vector_alignment_flag(vector, count, put) | appends, start);
    return put;
}

/* The C library writes by as many calls as it takes: one is recorded. Nothing printed is no call at all. */
static inline void record_print(int fd, int put, uint64_t start)
{
    if (put)
        tfd_record_transfer(TFD_OP_WRITE, true, fd, true, -1, put, 0, start);
}

static inline off_t counted_seek(tfd_lseek_function *next, int fd, off_t offset, int whence)
{
    uint64_t start = tfd_ticks();
    off_t position = next(fd, offset, whence);
    tfd_record_seek(TFD_OP_SEEK, fd, position, start);
    return position;
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

/* Where a copy began; the kernel moved the offset on. -1 is the descriptor's own position. */
static inline int64_t offset_before(const off_t *offset, ssize_t moved)
{
    return offset && moved >= 0 ? *offset - moved : -1;
}

static inline ssize_t counted_sendfile(tfd_sendfile_function *next, int out_fd, int in_fd, off_t *offset,
                                       size_t count)
{
    uint64_t start = tfd_ticks();
    ssize_t moved = next(out_fd, in_fd, offset, count);
    tfd_record_copy(in_fd, offset_before(offset, moved), out_fd, -1, moved, start);
    return moved;
}

static inline ssize_t counted_copy(tfd_copy_file_range_function *next, int in_fd, off64_t *in_offset,
                                   int out_fd, off64_t *out_offset, size_t count, unsigned flags)
{
    uint64_t start = tfd_ticks();
    ssize_t moved = next(in_fd, in_offset, out_fd, out_offset, count, flags);
    tfd_record_copy(in_fd, offset_before(in_offset, moved), out_fd, offset_before(out_offset, moved), moved,
                    start);
    return moved;
}

#endif
