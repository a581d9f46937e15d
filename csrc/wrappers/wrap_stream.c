/* Wrappers of calls that make, free and position streams. A stream is identified by its descriptor. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/stream_descriptor.h"
#include "hooks/hook_table.h"
#include "recorder/recorder_calls.h"
#include "wrappers/redirect.h"
#include "wrappers/stream_calls.h"
#include "wrappers/wrappers.h"

/* Return the flags of open(2) for a mode of fopen(3). */
static inline int open_flags_of(const char *mode)
{
    int access = strchr(mode, '+') ? O_RDWR : mode[0] == 'r' ? O_RDONLY : O_WRONLY;
    if (mode[0] == 'w')
        return access | O_CREAT | O_TRUNC;
    return mode[0] == 'a' ? access | O_CREAT | O_APPEND : access;
}

static inline FILE *open_copy_stream(tfd_fopen_function *next, struct tfd_redirected *file, const char *mode)
{
    uint64_t start = tfd_ticks();
    int saved_errno = errno;
    FILE *stream = next(tfd_redirect_copy(file), mode);
    int fd = tfd_descriptor_of(stream);
    bool good = tfd_redirect_is_good(file, fd);
    if (stream)
        tfd_record_open_again(TFD_OP_FOPEN, tfd_redirect_copy(file), tfd_redirect_kept(file), fd,
                              open_flags_of(mode), start);
    if (stream && !good) {
        tfd_wrap_fclose(stream);
        stream = NULL;
    }
    errno = saved_errno;
    return stream;
}

static inline FILE *counted_fopen(tfd_fopen_function *next, const char *path, const char *mode)
{
    struct tfd_redirected *file = tfd_redirect_find(path, open_flags_of(mode));
    FILE *copy = file ? open_copy_stream(next, file, mode) : NULL;
    if (copy)
        return copy;
    uint64_t start = tfd_ticks();
    FILE *stream = next(path, mode);
    tfd_record_open(TFD_OP_FOPEN, AT_FDCWD, path, tfd_descriptor_of(stream), open_flags_of(mode), 0, start);
    return stream;
}

FILE *tfd_wrap_fopen(const char *path, const char *mode)
{
    return counted_fopen(TFD_NEXT(fopen), path, mode);
}

FILE *tfd_wrap_fopen64(const char *path, const char *mode)
{
    return counted_fopen(TFD_NEXT(fopen64), path, mode);
}

/* Without a path only the mode changes, and the descriptor's name is looked up again. */
static inline FILE *counted_freopen(tfd_freopen_function *next, const char *path, const char *mode,
                                    FILE *stream)
{
    int old_fd = tfd_descriptor_of(stream);
    tfd_stream_begin(stream);
    if (old_fd >= 0)
        tfd_forget(old_fd);
    if (path && open_flags_of(mode) != O_RDONLY)
        tfd_redirect_changes(path);
    uint64_t start = tfd_ticks();
    FILE *reopened = next(path, mode, stream);
    if (path)
        tfd_record_open(TFD_OP_FOPEN, AT_FDCWD, path, tfd_descriptor_of(reopened), open_flags_of(mode), 0,
                        start);
    return reopened;
}

FILE *tfd_wrap_freopen(const char *path, const char *mode, FILE *stream)
{
    return counted_freopen(TFD_NEXT(freopen), path, mode, stream);
}

FILE *tfd_wrap_freopen64(const char *path, const char *mode, FILE *stream)
{
    return counted_freopen(TFD_NEXT(freopen64), path, mode, stream);
}

/* The file has no name. Its first use finds the kernel's name of it. */
static inline FILE *counted_tmpfile(tfd_tmpfile_function *next)
{
    uint64_t start = tfd_ticks();
    FILE *stream = next();
    int fd = tfd_descriptor_of(stream);
    if (fd >= 0)
        tfd_record_descriptor(TFD_OP_FOPEN, fd, -1, 0, false, start);
    return stream;
}

FILE *tfd_wrap_tmpfile(void)
{
    return counted_tmpfile(TFD_NEXT(tmpfile));
}

FILE *tfd_wrap_tmpfile64(void)
{
    return counted_tmpfile(TFD_NEXT(tmpfile64));
}

/* The C library sets the flag of a descriptor that is to append by a call that goes through no slot. */
FILE *tfd_wrap_fdopen(int fd, const char *mode)
{
    uint64_t start = tfd_ticks();
    FILE *stream = TFD_NEXT(fdopen)(fd, mode);
    tfd_record_descriptor(TFD_OP_FDOPEN, fd, -1, 0, !stream, start);
    if (stream && mode[0] == 'a')
        tfd_record_status_flags(fd, O_APPEND);
    return stream;
}

static inline int counted_fclose(tfd_fclose_function *next, FILE *stream)
{
    int fd = tfd_descriptor_of(stream);
    tfd_stream_begin(stream);
    uint64_t word = fd >= 0 ? tfd_forget(fd) : 0, start = tfd_ticks();
    int status = next(stream);
    if (fd >= 0)
        tfd_record_close(TFD_OP_FCLOSE, word, status != 0, start);
    return status;
}

int tfd_wrap_fclose(FILE *stream)
{
    return counted_fclose(TFD_NEXT(fclose), stream);
}

int tfd_wrap_pclose(FILE *stream)
{
    return counted_fclose(TFD_NEXT(pclose), stream);
}

static inline int counted_fileno(tfd_fileno_function *next, FILE *stream)
{
    uint64_t start = tfd_ticks();
    int fd = next(stream);
    if (fd >= 0)
        tfd_record_descriptor(TFD_OP_FILENO, fd, -1, 0, false, start);
    return fd;
}

int tfd_wrap_fileno(FILE *stream)
{
    return counted_fileno(TFD_NEXT(fileno), stream);
}

int tfd_wrap_fileno_unlocked(FILE *stream)
{
    return counted_fileno(TFD_NEXT(fileno_unlocked), stream);
}

static inline int record_stream_seek(FILE *stream, int status, uint64_t start)
{
    int saved_errno = errno, fd = tfd_descriptor_of(stream);
    if (fd >= 0 && tfd_descriptor_is_file(fd)) {
        off_t position = status ? -1 : ftello(stream);
        errno = saved_errno;
        tfd_record_seek(TFD_OP_FSEEK, fd, position, start);
        tfd_stream_end(stream, fd);
    }
    errno = saved_errno;
    return status;
}

int tfd_wrap_fseek(FILE *stream, long offset, int whence)
{
    uint64_t start = tfd_begin_stream_call(stream);
    return record_stream_seek(stream, TFD_NEXT(fseek)(stream, offset, whence), start);
}

int tfd_wrap_fseeko(FILE *stream, off_t offset, int whence)
{
    uint64_t start = tfd_begin_stream_call(stream);
    return record_stream_seek(stream, TFD_NEXT(fseeko)(stream, offset, whence), start);
}

int tfd_wrap_fseeko64(FILE *stream, off64_t offset, int whence)
{
    uint64_t start = tfd_begin_stream_call(stream);
    return record_stream_seek(stream, TFD_NEXT(fseeko64)(stream, offset, whence), start);
}

int tfd_wrap_fsetpos(FILE *stream, const fpos_t *position)
{
    uint64_t start = tfd_begin_stream_call(stream);
    return record_stream_seek(stream, TFD_NEXT(fsetpos)(stream, position), start);
}

int tfd_wrap_fsetpos64(FILE *stream, const fpos64_t *position)
{
    uint64_t start = tfd_begin_stream_call(stream);
    return record_stream_seek(stream, TFD_NEXT(fsetpos64)(stream, position), start);
}

void tfd_wrap_rewind(FILE *stream)
{
    uint64_t start = tfd_begin_stream_call(stream);
    TFD_NEXT(rewind)(stream);
    record_stream_seek(stream, 0, start);
}

/* A flush of all streams belongs to no file. */
static inline int flush_all(tfd_fflush_function *next)
{
    tfd_streams_count_moved();
    int status = next(NULL);
    tfd_streams_mark();
    return status;
}

static inline int counted_fflush(tfd_fflush_function *next, FILE *stream)
{
    if (!stream)
        return flush_all(next);
    uint64_t start = tfd_begin_stream_call(stream);
    int status = next(stream);
    int fd = tfd_descriptor_of(stream);
    if (fd < 0)
        return status;
    tfd_record_descriptor(TFD_OP_FFLUSH, fd, -1, 0, status != 0, start);
    tfd_stream_end(stream, fd);
    return status;
}

int tfd_wrap_fflush(FILE *stream)
{
    return counted_fflush(TFD_NEXT(fflush), stream);
}

int tfd_wrap_fflush_unlocked(FILE *stream)
{
    return counted_fflush(TFD_NEXT(fflush_unlocked), stream);
}
