/* Wrappers of the POSIX family. Names that mean the same call share one body,
 * but each calls its own next function: an interposer may define only one. */
#define _GNU_SOURCE
#include "darshan/known.h"
#include "wrappers/wrap_posix_calls.h"
#include "wrappers/wrappers.h"

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

int tfd_wrap___open_2(const char *path, int flags)
{
    return counted_open_checked(TFD_NEXT(__open_2), path, flags);
}

int tfd_wrap___open64_2(const char *path, int flags)
{
    return counted_open_checked(TFD_NEXT(__open64_2), path, flags);
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

int tfd_wrap___openat_2(int dirfd, const char *path, int flags)
{
    return counted_openat_checked(TFD_NEXT(__openat_2), dirfd, path, flags);
}

int tfd_wrap___openat64_2(int dirfd, const char *path, int flags)
{
    return counted_openat_checked(TFD_NEXT(__openat64_2), dirfd, path, flags);
}

/* After a failed call `how` may be no valid memory. */
int tfd_wrap_openat2(int dirfd, const char *path, const struct open_how *how, size_t size)
{
    uint64_t start = tfd_ticks();
    int fd = TFD_NEXT(openat2)(dirfd, path, how, size);
    tfd_record_open(TFD_OP_OPEN, dirfd, path, fd, fd < 0 ? 0 : (int)how->flags,
                    fd < 0 ? 0 : (unsigned)how->mode, start);
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

int tfd_wrap_mkstemp(char *template)
{
    return counted_mkstemp(TFD_NEXT(mkstemp), template);
}

int tfd_wrap_mkstemp64(char *template)
{
    return counted_mkstemp(TFD_NEXT(mkstemp64), template);
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

/* Of a directory stream only the descriptor matters: its number is free again. */
int tfd_wrap_closedir(DIR *directory)
{
    if (directory) {
        tfd_forget(dirfd(directory));
        tfd_darshan_forget(dirfd(directory));
    }
    return TFD_NEXT(closedir)(directory);
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

ssize_t tfd_wrap_pread(int fd, void *buffer, size_t count, off_t offset)
{
    return counted_pread(TFD_NEXT(pread), fd, buffer, count, offset);
}

ssize_t tfd_wrap_pread64(int fd, void *buffer, size_t count, off64_t offset)
{
    return counted_pread(TFD_NEXT(pread64), fd, buffer, count, offset);
}

ssize_t tfd_wrap___pread_chk(int fd, void *buffer, size_t count, off_t offset, size_t buffer_size)
{
    return counted_pread_checked(TFD_NEXT(__pread_chk), fd, buffer, count, offset, buffer_size);
}

ssize_t tfd_wrap___pread64_chk(int fd, void *buffer, size_t count, off64_t offset, size_t buffer_size)
{
    return counted_pread_checked(TFD_NEXT(__pread64_chk), fd, buffer, count, offset, buffer_size);
}

ssize_t tfd_wrap_readv(int fd, const struct iovec *vector, int count)
{
    uint64_t start = tfd_ticks();
    ssize_t got = TFD_NEXT(readv)(fd, vector, count);
    tfd_record_transfer(TFD_OP_READV, false, fd, true, -1, got, vector_alignment_flag(vector, count, got),
                        start);
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

ssize_t tfd_wrap_pwritev(int fd, const struct iovec *vector, int count, off_t offset)
{
    return counted_pwritev(TFD_NEXT(pwritev), fd, vector, count, offset);
}

ssize_t tfd_wrap_pwritev64(int fd, const struct iovec *vector, int count, off64_t offset)
{
    return counted_pwritev(TFD_NEXT(pwritev64), fd, vector, count, offset);
}

ssize_t tfd_wrap_pwritev2(int fd, const struct iovec *vector, int count, off_t offset, int flags)
{
    return counted_pwritev2(TFD_NEXT(pwritev2), fd, vector, count, offset, flags);
}

ssize_t tfd_wrap_pwritev64v2(int fd, const struct iovec *vector, int count, off64_t offset, int flags)
{
    return counted_pwritev2(TFD_NEXT(pwritev64v2), fd, vector, count, offset, flags);
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

static void rename_changes(int old_dirfd, const char *old_path, int new_dirfd, const char *new_path)
{
    tfd_redirect_changes_at(old_dirfd, old_path);
    tfd_redirect_changes_at(new_dirfd, new_path);
}

int tfd_wrap_rename(const char *old_path, const char *new_path)
{
    rename_changes(AT_FDCWD, old_path, AT_FDCWD, new_path);
    uint64_t start = tfd_ticks();
    int status = TFD_NEXT(rename)(old_path, new_path);
    tfd_record_rename(AT_FDCWD, old_path, AT_FDCWD, new_path, status < 0, start);
    return status;
}

int tfd_wrap_renameat(int old_dirfd, const char *old_path, int new_dirfd, const char *new_path)
{
    rename_changes(old_dirfd, old_path, new_dirfd, new_path);
    uint64_t start = tfd_ticks();
    int status = TFD_NEXT(renameat)(old_dirfd, old_path, new_dirfd, new_path);
    tfd_record_rename(old_dirfd, old_path, new_dirfd, new_path, status < 0, start);
    return status;
}

int tfd_wrap_renameat2(int old_dirfd, const char *old_path, int new_dirfd, const char *new_path,
                       unsigned flags)
{
    rename_changes(old_dirfd, old_path, new_dirfd, new_path);
    uint64_t start = tfd_ticks();
    int status = TFD_NEXT(renameat2)(old_dirfd, old_path, new_dirfd, new_path, flags);
    tfd_record_rename(old_dirfd, old_path, new_dirfd, new_path, status < 0, start);
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

int tfd_wrap_remove(const char *path)
{
    tfd_redirect_changes(path);
    uint64_t start = tfd_ticks();
    int status = TFD_NEXT(remove)(path);
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

ssize_t tfd_wrap_sendfile(int out_fd, int in_fd, off_t *offset, size_t count)
{
    return counted_sendfile(TFD_NEXT(sendfile), out_fd, in_fd, offset, count);
}

ssize_t tfd_wrap_sendfile64(int out_fd, int in_fd, off64_t *offset, size_t count)
{
    return counted_sendfile(TFD_NEXT(sendfile64), out_fd, in_fd, offset, count);
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
