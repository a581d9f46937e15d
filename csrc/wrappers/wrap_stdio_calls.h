/* The bodies that several STDIO symbols share. */
#ifndef TFD_WRAP_STDIO_CALLS_H
#define TFD_WRAP_STDIO_CALLS_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/stream_descriptor.h"
#include "hooks/hook_table.h"
#include "recorder/emit.h"
#include "recorder/recorder_calls.h"
#include "recorder/stream_marks.h"
#include "recorder/transfer.h"
#include "wrappers/redirect.h"
#include "wrappers/wrappers.h"

/* fopen(3)'s modes in open(2)'s terms. */
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

/* Without a path only the mode changes and the descriptor's name is looked up anew. */
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

/* The file has no name; its first use finds what the kernel calls it. */
static inline FILE *counted_tmpfile(tfd_tmpfile_function *next)
{
    uint64_t start = tfd_ticks();
    FILE *stream = next();
    int fd = tfd_descriptor_of(stream);
    if (fd >= 0)
        tfd_record_descriptor(TFD_OP_FOPEN, fd, -1, 0, false, start);
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

static inline int counted_fileno(tfd_fileno_function *next, FILE *stream)
{
    uint64_t start = tfd_ticks();
    int fd = next(stream);
    if (fd >= 0)
        tfd_record_descriptor(TFD_OP_FILENO, fd, -1, 0, false, start);
    return fd;
}

static inline uint64_t begin_stream_call(FILE *stream)
{
    tfd_stream_begin(stream);
    return tfd_ticks();
}

static inline void record_given_back(FILE *stream, ssize_t bytes)
{
    int fd = tfd_descriptor_of(stream);
    if (fd < 0)
        return;
    tfd_record_given_back(fd, bytes);
    tfd_stream_end(stream, fd);
}

/* Nothing read at the end of the file is a read of zero bytes; after an error it is a failed one. */
static inline void record_stream_read(FILE *stream, size_t bytes, uint8_t flags, uint64_t start)
{
    int fd = tfd_descriptor_of(stream);
    if (fd < 0)
        return;
    ssize_t result = bytes || !ferror_unlocked(stream) ? (ssize_t)bytes : -1;
    tfd_record_transfer(TFD_OP_FREAD, false, fd, true, -1, result, flags, start);
    tfd_stream_end(stream, fd);
}

static inline void record_stream_write(FILE *stream, ssize_t bytes, uint8_t flags, uint64_t start)
{
    int fd = tfd_descriptor_of(stream);
    if (fd < 0)
        return;
    tfd_record_transfer(TFD_OP_FWRITE, true, fd, true, -1, bytes, flags, start);
    tfd_stream_end(stream, fd);
}

static inline TFD_HOT size_t counted_fread(tfd_fread_function *next, void *buffer, size_t size, size_t items,
                                           FILE *stream)
{
    uint64_t start = begin_stream_call(stream);
    size_t got = next(buffer, size, items, stream);
    record_stream_read(stream, got * size, 0, start);
    return got;
}

static inline size_t counted_fread_checked(tfd___fread_chk_function *next, void *buffer, size_t room,
                                           size_t size, size_t items, FILE *stream)
{
    uint64_t start = begin_stream_call(stream);
    size_t got = next(buffer, room, size, items, stream);
    record_stream_read(stream, got * size, 0, start);
    return got;
}

static inline char *counted_fgets(tfd_fgets_function *next, char *buffer, int size, FILE *stream)
{
    uint64_t start = begin_stream_call(stream);
    char *line = next(buffer, size, stream);
    record_stream_read(stream, line ? strlen(line) : 0, 0, start);
    return line;
}

static inline char *counted_fgets_checked(tfd___fgets_chk_function *next, char *buffer, size_t room, int size,
                                          FILE *stream)
{
    uint64_t start = begin_stream_call(stream);
    char *line = next(buffer, room, size, stream);
    record_stream_read(stream, line ? strlen(line) : 0, 0, start);
    return line;
}

static inline int counted_getc(tfd_getc_function *next, FILE *stream)
{
    uint64_t start = begin_stream_call(stream);
    int character = next(stream);
    record_stream_read(stream, character != EOF, 0, start);
    return character;
}

static inline ssize_t counted_getdelim(tfd_getdelim_function *next, char **line, size_t *capacity,
                                       int delimiter, FILE *stream)
{
    uint64_t start = begin_stream_call(stream);
    ssize_t length = next(line, capacity, delimiter, stream);
    record_stream_read(stream, length < 0 ? 0 : (size_t)length, 0, start);
    return length;
}

/* How much a conversion consumed only the stream's position tells. */
static inline int counted_vfscanf(tfd_vfscanf_function *next, FILE *stream, const char *format,
                                  va_list arguments)
{
    uint64_t start = begin_stream_call(stream);
    bool is_file = tfd_descriptor_is_file(tfd_descriptor_of(stream));
    off_t before = is_file ? ftello(stream) : 0;
    start = is_file ? tfd_ticks() : start;
    int items = next(stream, format, arguments);
    int saved_errno = errno;
    off_t after = is_file ? ftello(stream) : 0;
    errno = saved_errno;
    record_stream_read(stream, after > before ? (size_t)(after - before) : 0,
                       items ? TFD_FLAG_EMPTY_COUNTS : 0, start);
    return items;
}

static inline size_t counted_fwrite(tfd_fwrite_function *next, const void *buffer, size_t size, size_t items,
                                    FILE *stream)
{
    uint64_t start = begin_stream_call(stream);
    size_t put = next(buffer, size, items, stream);
    record_stream_write(stream, put || !size || !items ? (ssize_t)(put * size) : -1, 0, start);
    return put;
}

static inline int counted_fputs(tfd_fputs_function *next, const char *text, FILE *stream)
{
    uint64_t start = begin_stream_call(stream);
    int status = next(text, stream);
    record_stream_write(stream, status == EOF ? -1 : (ssize_t)strlen(text), TFD_FLAG_EMPTY_COUNTS, start);
    return status;
}

static inline int counted_putc(tfd_putc_function *next, int character, FILE *stream)
{
    uint64_t start = begin_stream_call(stream);
    int written = next(character, stream);
    record_stream_write(stream, written == EOF ? -1 : 1, 0, start);
    return written;
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

/* Every stream is flushed: that belongs to no file. */
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
    uint64_t start = begin_stream_call(stream);
    int status = next(stream);
    int fd = tfd_descriptor_of(stream);
    if (fd < 0)
        return status;
    tfd_record_descriptor(TFD_OP_FFLUSH, fd, -1, 0, status != 0, start);
    tfd_stream_end(stream, fd);
    return status;
}

#endif
