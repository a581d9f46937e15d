/* Wrappers of calls that read, write, position and sync descriptors, and that copy between them. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"
#include "hooks/hook_table.h"
#include "recorder/recorder_calls.h"
#include "recorder/transfer.h"
#include "wrappers/wrappers.h"

#ifndef RWF_NOAPPEND
#define RWF_NOAPPEND 0x20 /* Linux 6.9 */
#endif

static inline TFD_HOT ssize_t counted_read(tfd_read_function *next, int fd, void *buffer, size_t count)
{
    uint64_t start = tfd_ticks();
    ssize_t got = next(fd, buffer, count);
    tfd_record_transfer(TFD_OP_READ, false, fd, true, -1, got, tfd_alignment_flag(buffer), start);
    return got;
}

ssize_t tfd_wrap_read(int fd, void *buffer, size_t count)
{
    return counted_read(TFD_NEXT(read), fd, buffer, count);
}

ssize_t tfd_wrap___read_chk(int fd, void *buffer, size_t count, size_t buffer_size)
{
    uint64_t start = tfd_ticks();
    ssize_t got = TFD_NEXT(__read_chk)(fd, buffer, count, buffer_size);
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

ssize_t tfd_wrap_pread(int fd, void *buffer, size_t count, off_t offset)
{
    return counted_pread(TFD_NEXT(pread), fd, buffer, count, offset);
}

ssize_t tfd_wrap_pread64(int fd, void *buffer, size_t count, off64_t offset)
{
    return counted_pread(TFD_NEXT(pread64), fd, buffer, count, offset);
}

static inline ssize_t counted_pread_checked(tfd___pread_chk_function *next, int fd, void *buffer,
                                            size_t count, off_t offset, size_t buffer_size)
{
    uint64_t start = tfd_ticks();
    ssize_t got = next(fd, buffer, count, offset, buffer_size);
    tfd_record_transfer(TFD_OP_PREAD, false, fd, false, offset, got, tfd_alignment_flag(buffer), start);
    return got;
}

ssize_t tfd_wrap___pread_chk(int fd, void *buffer, size_t count, off_t offset, size_t buffer_size)
{
    return counted_pread_checked(TFD_NEXT(__pread_chk), fd, buffer, count, offset, buffer_size);
}

ssize_t tfd_wrap___pread64_chk(int fd, void *buffer, size_t count, off64_t offset, size_t buffer_size)
{
    return counted_pread_checked(TFD_NEXT(__pread64_chk), fd, buffer, count, offset, buffer_size);
}

/* After a failed call the vector may be invalid memory. */
static inline uint8_t vector_alignment_flag(const struct iovec *vector, int count, ssize_t result)
{
    uintptr_t bits = 0;
    if (result < 0)
        return 0;
    for (int i = 0; i < count; i++)
        bits |= (uintptr_t)vector[i].iov_base;
    return tfd_alignment_flag((const void *)bits);
}

ssize_t tfd_wrap_readv(int fd, const struct iovec *vector, int count)
{
    uint64_t start = tfd_ticks();
    ssize_t got = TFD_NEXT(readv)(fd, vector, count);
    tfd_record_transfer(TFD_OP_READV, false, fd, true, -1, got, vector_alignment_flag(vector, count, got),
                        start);
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

ssize_t tfd_wrap_preadv(int fd, const struct iovec *vector, int count, off_t offset)
{
    return counted_preadv(TFD_NEXT(preadv), fd, vector, count, offset);
}

ssize_t tfd_wrap_preadv64(int fd, const struct iovec *vector, int count, off64_t offset)
{
    return counted_preadv(TFD_NEXT(preadv64), fd, vector, count, offset);
}

/* Offset -1 means the descriptor's own position, which makes it a readv. */
static inline ssize_t counted_preadv2(tfd_preadv2_function *next, int fd, const struct iovec *vector,
                                      int count, off_t offset, int flags)
{
    uint64_t start = tfd_ticks();
    ssize_t got = next(fd, vector, count, offset, flags);
    tfd_record_transfer(offset == -1 ? TFD_OP_READV : TFD_OP_PREADV, false, fd, offset == -1, offset, got,
                        vector_alignment_flag(vector, count, got), start);
    return got;
}

ssize_t tfd_wrap_preadv2(int fd, const struct iovec *vector, int count, off_t offset, int flags)
{
    return counted_preadv2(TFD_NEXT(preadv2), fd, vector, count, offset, flags);
}

ssize_t tfd_wrap_preadv64v2(int fd, const struct iovec *vector, int count, off64_t offset, int flags)
{
    return counted_preadv2(TFD_NEXT(preadv64v2), fd, vector, count, offset, flags);
}

ssize_t tfd_wrap_write(int fd, const void *buffer, size_t count)
{
    uint64_t start = tfd_ticks();
    ssize_t put = TFD_NEXT(write)(fd, buffer, count);
    tfd_record_transfer(TFD_OP_WRITE, true, fd, true, -1, put, tfd_alignment_flag(buffer), start);
    return put;
}

static inline ssize_t counted_pwrite(tfd_pwrite_function *next, int fd, const void *buffer, size_t count,
                                     off_t offset)
{
    uint64_t start = tfd_ticks();
    ssize_t put = next(fd, buffer, count, offset);
    tfd_record_transfer(TFD_OP_PWRITE, true, fd, false, offset, put, tfd_alignment_flag(buffer), start);
    return put;
}

ssize_t tfd_wrap_pwrite(int fd, const void *buffer, size_t count, off_t offset)
{
    return counted_pwrite(TFD_NEXT(pwrite), fd, buffer, count, offset);
}

ssize_t tfd_wrap_pwrite64(int fd, const void *buffer, size_t count, off64_t offset)
{
    return counted_pwrite(TFD_NEXT(pwrite64), fd, buffer, count, offset);
}

ssize_t tfd_wrap_writev(int fd, const struct iovec *vector, int count)
{
    uint64_t start = tfd_ticks();
    ssize_t put = TFD_NEXT(writev)(fd, vector, count);
    tfd_record_transfer(TFD_OP_WRITEV, true, fd, true, -1, put, vector_alignment_flag(vector, count, put),
                        start);
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

ssize_t tfd_wrap_pwritev(int fd, const struct iovec *vector, int count, off_t offset)
{
    return counted_pwritev(TFD_NEXT(pwritev), fd, vector, count, offset);
}

ssize_t tfd_wrap_pwritev64(int fd, const struct iovec *vector, int count, off64_t offset)
{
    return counted_pwritev(TFD_NEXT(pwritev64), fd, vector, count, offset);
}

static inline ssize_t counted_pwritev2(tfd_pwritev2_function *next, int fd, const struct iovec *vector,
                                       int count, off_t offset, int flags)
{
    uint64_t start = tfd_ticks();
    ssize_t put = next(fd, vector, count, offset, flags);
    uint8_t appends = flags & RWF_APPEND ? TFD_FLAG_APPEND : flags & RWF_NOAPPEND ? TFD_FLAG_IN_PLACE : 0;
    tfd_record_transfer(offset == -1 ? TFD_OP_WRITEV : TFD_OP_PWRITEV, true, fd, offset == -1, offset, put,
                        vector_alignment_flag(vector, count, put) | appends, start);
    return put;
}

ssize_t tfd_wrap_pwritev2(int fd, const struct iovec *vector, int count, off_t offset, int flags)
{
    return counted_pwritev2(TFD_NEXT(pwritev2), fd, vector, count, offset, flags);
}

ssize_t tfd_wrap_pwritev64v2(int fd, const struct iovec *vector, int count, off64_t offset, int flags)
{
    return counted_pwritev2(TFD_NEXT(pwritev64v2), fd, vector, count, offset, flags);
}

/* The C library may write by several calls, which are recorded as one. A print of nothing makes no call. */
static inline void record_print(int fd, int put, uint64_t start)
{
    if (put)
        tfd_record_transfer(TFD_OP_WRITE, true, fd, true, -1, put, 0, start);
}

int tfd_wrap_vdprintf(int fd, const char *format, va_list arguments)
{
    uint64_t start = tfd_ticks();
    int put = TFD_NEXT(vdprintf)(fd, format, arguments);
    record_print(fd, put, start);
    return put;
}

int tfd_wrap___vdprintf_chk(int fd, int flag, const char *format, va_list arguments)
{
    uint64_t start = tfd_ticks();
    int put = TFD_NEXT(__vdprintf_chk)(fd, flag, format, arguments);
    record_print(fd, put, start);
    return put;
}

int tfd_wrap_dprintf(int fd, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int put = tfd_wrap_vdprintf(fd, format, arguments);
    va_end(arguments);
    return put;
}

int tfd_wrap___dprintf_chk(int fd, int flag, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int put = tfd_wrap___vdprintf_chk(fd, flag, format, arguments);
    va_end(arguments);
    return put;
}

static inline off_t counted_seek(tfd_lseek_function *next, int fd, off_t offset, int whence)
{
    uint64_t start = tfd_ticks();
    off_t position = next(fd, offset, whence);
    tfd_record_seek(TFD_OP_SEEK, fd, position, start);
    return position;
}

off_t tfd_wrap_lseek(int fd, off_t offset, int whence)
{
    return counted_seek(TFD_NEXT(lseek), fd, offset, whence);
}

off64_t tfd_wrap_lseek64(int fd, off64_t offset, int whence)
{
    return counted_seek(TFD_NEXT(lseek64), fd, offset, whence);
}

int tfd_wrap_fsync(int fd)
{
    uint64_t start = tfd_ticks();
    int status = TFD_NEXT(fsync)(fd);
    tfd_record_descriptor(TFD_OP_FSYNC, fd, -1, 0, status < 0, start);
    return status;
}

int tfd_wrap_fdatasync(int fd)
{
    uint64_t start = tfd_ticks();
    int status = TFD_NEXT(fdatasync)(fd);
    tfd_record_descriptor(TFD_OP_FDATASYNC, fd, -1, 0, status < 0, start);
    return status;
}

/* Return the offset where a copy began, since the kernel has advanced it; -1 means the descriptor's own position. */
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

ssize_t tfd_wrap_sendfile(int out_fd, int in_fd, off_t *offset, size_t count)
{
    return counted_sendfile(TFD_NEXT(sendfile), out_fd, in_fd, offset, count);
}

ssize_t tfd_wrap_sendfile64(int out_fd, int in_fd, off64_t *offset, size_t count)
{
    return counted_sendfile(TFD_NEXT(sendfile64), out_fd, in_fd, offset, count);
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

ssize_t tfd_wrap_copy_file_range(int in_fd, off64_t *in_offset, int out_fd, off64_t *out_offset, size_t count,
                                 unsigned flags)
{
    return counted_copy(TFD_NEXT(copy_file_range), in_fd, in_offset, out_fd, out_offset, count, flags);
}

ssize_t tfd_wrap_splice(int in_fd, off64_t *in_offset, int out_fd, off64_t *out_offset, size_t count,
                        unsigned flags)
{
    return counted_copy(TFD_NEXT(splice), in_fd, in_offset, out_fd, out_offset, count, flags);
}
