/* Every hooked symbol, one row each. No other file says what its calls look like:
 *
 *   X(symbol, operation, emulated, darshan, result, parameters, arguments)
 *
 * operation   what its wrapper records
 * emulated    the kind of call it is for storage emulation (emulation/emulated_calls.h)
 * darshan     the kind of call it is for libdarshan (darshan/calls.h)
 *             NO: none. OWN: no kind fits, so its functions are written by hand.
 * parameters  those of a function that passes the call on; O(parameter) is one that a caller may leave out.
 *             The kinds use some by name: fd, dirfd, path, flags, command, offset, stream.
 * arguments   the parameters' names, to pass them on
 *
 * A symbol the C library does not define is skipped at run time, so names of
 * old and new glibc stand side by side. */
#ifndef TFD_HOOK_TABLE_H
#define TFD_HOOK_TABLE_H

#define TFD_POSIX_HOOKS(X, O)                                                                                \
    X(open, "open", OPEN, OPEN, int, (const char *path, int flags, O(int mode)), (path, flags, mode))        \
    X(open64, "open", OPEN, OPEN, int, (const char *path, int flags, O(int mode)), (path, flags, mode))      \
    X(__open_2, "open", OPEN, OPEN, int, (const char *path, int flags), (path, flags))                       \
    X(__open64_2, "open", OPEN, NO, int, (const char *path, int flags), (path, flags))                       \
    X(openat, "open", OPEN, OPEN_AT, int, (int dirfd, const char *path, int flags, O(int mode)),             \
      (dirfd, path, flags, mode))                                                                            \
    X(openat64, "open", OPEN, OPEN_AT, int, (int dirfd, const char *path, int flags, O(int mode)),           \
      (dirfd, path, flags, mode))                                                                            \
    X(__openat_2, "open", OPEN, NO, int, (int dirfd, const char *path, int flags), (dirfd, path, flags))     \
    X(__openat64_2, "open", OPEN, NO, int, (int dirfd, const char *path, int flags), (dirfd, path, flags))   \
    X(openat2, "open", OPEN, NO, int,                                                                        \
      (int dirfd, const char *path, const struct open_how *how, size_t size), (dirfd, path, how, size))      \
    X(creat, "open", OPEN, NEW_FILE, int, (const char *path, mode_t mode), (path, mode))                     \
    X(creat64, "open", OPEN, NEW_FILE, int, (const char *path, mode_t mode), (path, mode))                   \
    X(mkstemp, "open", NO, NEW_FILE, int, (char *template), (template))                                      \
    X(mkstemp64, "open", NO, NO, int, (char *template), (template))                                          \
    X(mkostemp, "open", NO, NEW_FILE, int, (char *template, int flags), (template, flags))                   \
    X(mkostemp64, "open", NO, NO, int, (char *template, int flags), (template, flags))                       \
    X(mkstemps, "open", NO, NEW_FILE, int, (char *template, int suffix_length), (template, suffix_length))   \
    X(mkstemps64, "open", NO, NO, int, (char *template, int suffix_length), (template, suffix_length))       \
    X(mkostemps, "open", NO, NEW_FILE, int, (char *template, int suffix_length, int flags),                  \
      (template, suffix_length, flags))                                                                      \
    X(mkostemps64, "open", NO, NO, int, (char *template, int suffix_length, int flags),                      \
      (template, suffix_length, flags))                                                                      \
    X(close, "close", OWN, OWN, int, (int fd), (fd))                                                         \
    X(close_range, "close", OWN, NO, int, (unsigned first, unsigned last, int flags), (first, last, flags))  \
    X(closefrom, "close", OWN, NO, void, (int first), (first))                                               \
    X(closedir, "close", NO, NO, int, (DIR * directory), (directory))                                        \
    X(read, "read", READ, FD, ssize_t, (int fd, void *buffer, size_t count), (fd, buffer, count))            \
    X(__read_chk, "read", READ, NO, ssize_t, (int fd, void *buffer, size_t count, size_t buffer_size),       \
      (fd, buffer, count, buffer_size))                                                                      \
    X(pread, "pread", READ_AT, FD, ssize_t, (int fd, void *buffer, size_t count, off_t offset),              \
      (fd, buffer, count, offset))                                                                           \
    X(pread64, "pread", READ_AT, FD, ssize_t, (int fd, void *buffer, size_t count, off64_t offset),          \
      (fd, buffer, count, offset))                                                                           \
    X(__pread_chk, "pread", READ_AT, NO, ssize_t,                                                            \
      (int fd, void *buffer, size_t count, off_t offset, size_t buffer_size),                                \
      (fd, buffer, count, offset, buffer_size))                                                              \
    X(__pread64_chk, "pread", READ_AT, NO, ssize_t,                                                          \
      (int fd, void *buffer, size_t count, off64_t offset, size_t buffer_size),                              \
      (fd, buffer, count, offset, buffer_size))                                                              \
    X(readv, "readv", READ, FD, ssize_t, (int fd, const struct iovec *vector, int count),                    \
      (fd, vector, count))                                                                                   \
    X(preadv, "preadv", READ_AT, FD, ssize_t, (int fd, const struct iovec *vector, int count, off_t offset), \
      (fd, vector, count, offset))                                                                           \
    X(preadv64, "preadv", READ_AT, FD, ssize_t,                                                              \
      (int fd, const struct iovec *vector, int count, off64_t offset), (fd, vector, count, offset))          \
    X(preadv2, "preadv", READ_AT, FD_AT, ssize_t,                                                            \
      (int fd, const struct iovec *vector, int count, off_t offset, int flags),                              \
      (fd, vector, count, offset, flags))                                                                    \
    X(preadv64v2, "preadv", READ_AT, FD_AT, ssize_t,                                                         \
      (int fd, const struct iovec *vector, int count, off64_t offset, int flags),                            \
      (fd, vector, count, offset, flags))                                                                    \
    X(write, "write", WRITE, FD, ssize_t, (int fd, const void *buffer, size_t count), (fd, buffer, count))   \
    X(pwrite, "pwrite", WRITE_AT, FD, ssize_t, (int fd, const void *buffer, size_t count, off_t offset),     \
      (fd, buffer, count, offset))                                                                           \
    X(pwrite64, "pwrite", WRITE_AT, FD, ssize_t, (int fd, const void *buffer, size_t count, off64_t offset), \
      (fd, buffer, count, offset))                                                                           \
    X(writev, "writev", WRITE, FD, ssize_t, (int fd, const struct iovec *vector, int count),                 \
      (fd, vector, count))                                                                                   \
    X(pwritev, "pwritev", WRITE_AT, FD, ssize_t,                                                             \
      (int fd, const struct iovec *vector, int count, off_t offset), (fd, vector, count, offset))            \
    X(pwritev64, "pwritev", WRITE_AT, FD, ssize_t,                                                           \
      (int fd, const struct iovec *vector, int count, off64_t offset), (fd, vector, count, offset))          \
    X(pwritev2, "pwritev", WRITE_AT, FD_AT, ssize_t,                                                         \
      (int fd, const struct iovec *vector, int count, off_t offset, int flags),                              \
      (fd, vector, count, offset, flags))                                                                    \
    X(pwritev64v2, "pwritev", WRITE_AT, FD_AT, ssize_t,                                                      \
      (int fd, const struct iovec *vector, int count, off64_t offset, int flags),                            \
      (fd, vector, count, offset, flags))                                                                    \
    X(dprintf, "write", NO, NO, int, (int fd, const char *format, ...), (fd, format))                        \
    X(vdprintf, "write", WRITE, NO, int, (int fd, const char *format, va_list arguments),                    \
      (fd, format, arguments))                                                                               \
    X(__dprintf_chk, "write", NO, NO, int, (int fd, int flag, const char *format, ...), (fd, flag, format))  \
    X(__vdprintf_chk, "write", WRITE, NO, int, (int fd, int flag, const char *format, va_list arguments),    \
      (fd, flag, format, arguments))                                                                         \
    X(aio_read, "pread", NO, NO, int, (struct aiocb * request), (request))                                   \
    X(aio_write, "pwrite", NO, NO, int, (struct aiocb * request), (request))                                 \
    X(aio_fsync, "fsync", NO, NO, int, (int operation, struct aiocb *request), (operation, request))         \
    X(lio_listio, "pwrite", NO, NO, int,                                                                     \
      (int mode, struct aiocb *const list[], int count, struct sigevent *event), (mode, list, count, event)) \
    X(aio_error, "", NO, NO, int, (const struct aiocb *request), (request))                                  \
    X(aio_return, "", NO, NO, ssize_t, (struct aiocb * request), (request))                                  \
    X(aio_suspend, "", NO, NO, int,                                                                          \
      (const struct aiocb *const list[], int count, const struct timespec *timeout), (list, count, timeout)) \
    X(lseek, "lseek", NO, FD, off_t, (int fd, off_t offset, int whence), (fd, offset, whence))               \
    X(lseek64, "lseek", NO, FD, off64_t, (int fd, off64_t offset, int whence), (fd, offset, whence))         \
    X(fsync, "fsync", SYNC, FD, int, (int fd), (fd))                                                         \
    X(fdatasync, "fdatasync", SYNC, FD, int, (int fd), (fd))                                                 \
    X(dup, "dup", NO, DUP, int, (int fd), (fd))                                                              \
    X(dup2, "dup", OWN, OWN, int, (int fd, int copy), (fd, copy))                                            \
    X(dup3, "dup", OWN, OWN, int, (int fd, int copy, int flags), (fd, copy, flags))                          \
    X(fcntl, "dup", NO, FCNTL, int, (int fd, int command, O(void *argument)), (fd, command, argument))       \
    X(fcntl64, "dup", NO, FCNTL, int, (int fd, int command, O(void *argument)), (fd, command, argument))     \
    X(rename, "rename", NO, PATH, int, (const char *old_path, const char *new_path), (old_path, new_path))   \
    X(renameat, "rename", NO, NO, int,                                                                       \
      (int old_dirfd, const char *old_path, int new_dirfd, const char *new_path),                            \
      (old_dirfd, old_path, new_dirfd, new_path))                                                            \
    X(renameat2, "rename", NO, NO, int,                                                                      \
      (int old_dirfd, const char *old_path, int new_dirfd, const char *new_path, unsigned flags),            \
      (old_dirfd, old_path, new_dirfd, new_path, flags))                                                     \
    X(unlink, "unlink", NO, NO, int, (const char *path), (path))                                             \
    X(unlinkat, "unlink", NO, NO, int, (int dirfd, const char *path, int flags), (dirfd, path, flags))       \
    X(remove, "unlink", NO, NO, int, (const char *path), (path))                                             \
    X(truncate, "truncate", NO, NO, int, (const char *path, off_t length), (path, length))                   \
    X(truncate64, "truncate", NO, NO, int, (const char *path, off64_t length), (path, length))               \
    X(ftruncate, "truncate", NO, NO, int, (int fd, off_t length), (fd, length))                              \
    X(ftruncate64, "truncate", NO, NO, int, (int fd, off64_t length), (fd, length))                          \
    X(sendfile, "copy_read", OWN, NO, ssize_t, (int out_fd, int in_fd, off_t *offset, size_t count),         \
      (out_fd, in_fd, offset, count))                                                                        \
    X(sendfile64, "copy_read", OWN, NO, ssize_t, (int out_fd, int in_fd, off64_t *offset, size_t count),     \
      (out_fd, in_fd, offset, count))                                                                        \
    X(copy_file_range, "copy_read", OWN, NO, ssize_t,                                                        \
      (int in_fd, off64_t *in_offset, int out_fd, off64_t *out_offset, size_t count, unsigned flags),        \
      (in_fd, in_offset, out_fd, out_offset, count, flags))                                                  \
    X(splice, "copy_read", NO, NO, ssize_t,                                                                  \
      (int in_fd, off64_t *in_offset, int out_fd, off64_t *out_offset, size_t count, unsigned flags),        \
      (in_fd, in_offset, out_fd, out_offset, count, flags))                                                  \
    X(stat, "stat", PATH, PATH, int, (const char *path, struct stat *status), (path, status))                \
    X(stat64, "stat", PATH, PATH, int, (const char *path, struct stat64 *status), (path, status))            \
    X(lstat, "stat", PATH, PATH, int, (const char *path, struct stat *status), (path, status))               \
    X(lstat64, "stat", PATH, PATH, int, (const char *path, struct stat64 *status), (path, status))           \
    X(fstatat, "stat", PATH_AT, NO, int, (int dirfd, const char *path, struct stat *status, int flags),      \
      (dirfd, path, status, flags))                                                                          \
    X(fstatat64, "stat", PATH_AT, NO, int, (int dirfd, const char *path, struct stat64 *status, int flags),  \
      (dirfd, path, status, flags))                                                                          \
    X(statx, "stat", PATH_AT, NO, int,                                                                       \
      (int dirfd, const char *path, int flags, unsigned mask, struct statx *status),                         \
      (dirfd, path, flags, mask, status))                                                                    \
    X(__xstat, "stat", PATH, PATH, int, (int version, const char *path, struct stat *status),                \
      (version, path, status))                                                                               \
    X(__xstat64, "stat", PATH, PATH, int, (int version, const char *path, struct stat64 *status),            \
      (version, path, status))                                                                               \
    X(__lxstat, "stat", PATH, PATH, int, (int version, const char *path, struct stat *status),               \
      (version, path, status))                                                                               \
    X(__lxstat64, "stat", PATH, PATH, int, (int version, const char *path, struct stat64 *status),           \
      (version, path, status))                                                                               \
    X(__fxstatat, "stat", PATH_AT, NO, int,                                                                  \
      (int version, int dirfd, const char *path, struct stat *status, int flags),                            \
      (version, dirfd, path, status, flags))                                                                 \
    X(__fxstatat64, "stat", PATH_AT, NO, int,                                                                \
      (int version, int dirfd, const char *path, struct stat64 *status, int flags),                          \
      (version, dirfd, path, status, flags))                                                                 \
    X(fstat, "fstat", NO, FD, int, (int fd, struct stat *status), (fd, status))                              \
    X(fstat64, "fstat", NO, FD, int, (int fd, struct stat64 *status), (fd, status))                          \
    X(__fxstat, "fstat", NO, FD, int, (int version, int fd, struct stat *status), (version, fd, status))     \
    X(__fxstat64, "fstat", NO, FD, int, (int version, int fd, struct stat64 *status), (version, fd, status))

#define TFD_STDIO_HOOKS(X)                                                                                   \
    X(fopen, "fopen", STREAM_OPEN, STREAM_OPEN, FILE *, (const char *path, const char *mode), (path, mode))  \
    X(fopen64, "fopen", STREAM_OPEN, STREAM_OPEN, FILE *, (const char *path, const char *mode),              \
      (path, mode))                                                                                          \
    X(freopen, "fopen", NO, OWN, FILE *, (const char *path, const char *mode, FILE *stream),                 \
      (path, mode, stream))                                                                                  \
    X(freopen64, "fopen", NO, OWN, FILE *, (const char *path, const char *mode, FILE *stream),               \
      (path, mode, stream))                                                                                  \
    X(tmpfile, "fopen", NO, NO, FILE *, (void), ())                                                          \
    X(tmpfile64, "fopen", NO, NO, FILE *, (void), ())                                                        \
    X(fdopen, "fdopen", NO, FDOPEN, FILE *, (int fd, const char *mode), (fd, mode))                          \
    X(fclose, "fclose", OWN, OWN, int, (FILE * stream), (stream))                                            \
    X(pclose, "fclose", NO, NO, int, (FILE * stream), (stream))                                              \
    X(fileno, "fileno", NO, OWN, int, (FILE * stream), (stream))                                             \
    X(fileno_unlocked, "fileno", NO, NO, int, (FILE * stream), (stream))                                     \
    X(fread, "fread", STREAM_READ, STREAM, size_t, (void *buffer, size_t size, size_t items, FILE *stream),  \
      (buffer, size, items, stream))                                                                         \
    X(fread_unlocked, "fread", STREAM_READ, NO, size_t,                                                      \
      (void *buffer, size_t size, size_t items, FILE *stream), (buffer, size, items, stream))                \
    X(__fread_chk, "fread", STREAM_READ, NO, size_t,                                                         \
      (void *buffer, size_t room, size_t size, size_t items, FILE *stream),                                  \
      (buffer, room, size, items, stream))                                                                   \
    X(__fread_unlocked_chk, "fread", STREAM_READ, NO, size_t,                                                \
      (void *buffer, size_t room, size_t size, size_t items, FILE *stream),                                  \
      (buffer, room, size, items, stream))                                                                   \
    X(fgets, "fread", STREAM_READ, STREAM, char *, (char *buffer, int size, FILE *stream),                   \
      (buffer, size, stream))                                                                                \
    X(fgets_unlocked, "fread", NO, NO, char *, (char *buffer, int size, FILE *stream),                       \
      (buffer, size, stream))                                                                                \
    X(__fgets_chk, "fread", NO, NO, char *, (char *buffer, size_t room, int size, FILE *stream),             \
      (buffer, room, size, stream))                                                                          \
    X(__fgets_unlocked_chk, "fread", NO, NO, char *, (char *buffer, size_t room, int size, FILE *stream),    \
      (buffer, room, size, stream))                                                                          \
    X(fgetc, "fread", STREAM_READ, STREAM, int, (FILE * stream), (stream))                                   \
    X(getc, "fread", STREAM_READ, NO, int, (FILE * stream), (stream))                                        \
    X(_IO_getc, "fread", NO, STREAM, int, (FILE * stream), (stream))                                         \
    X(fgetc_unlocked, "fread", NO, NO, int, (FILE * stream), (stream))                                       \
    X(getc_unlocked, "fread", NO, NO, int, (FILE * stream), (stream))                                        \
    X(getw, "fread", NO, STREAM, int, (FILE * stream), (stream))                                             \
    X(getline, "fread", STREAM_READ, NO, ssize_t, (char **line, size_t *capacity, FILE *stream),             \
      (line, capacity, stream))                                                                              \
    X(getdelim, "fread", NO, NO, ssize_t, (char **line, size_t *capacity, int delimiter, FILE *stream),      \
      (line, capacity, delimiter, stream))                                                                   \
    X(__getdelim, "fread", NO, NO, ssize_t, (char **line, size_t *capacity, int delimiter, FILE *stream),    \
      (line, capacity, delimiter, stream))                                                                   \
    X(ungetc, "", NO, NO, int, (int character, FILE *stream), (character, stream))                           \
    X(fscanf, "fread", NO, NO, int, (FILE * stream, const char *format, ...), (stream, format))              \
    X(vfscanf, "fread", NO, OWN, int, (FILE * stream, const char *format, va_list arguments),                \
      (stream, format, arguments))                                                                           \
    X(__isoc99_fscanf, "fread", NO, NO, int, (FILE * stream, const char *format, ...), (stream, format))     \
    X(__isoc99_vfscanf, "fread", NO, VFSCANF, int, (FILE * stream, const char *format, va_list arguments),   \
      (stream, format, arguments))                                                                           \
    X(__isoc23_fscanf, "fread", NO, NO, int, (FILE * stream, const char *format, ...), (stream, format))     \
    X(__isoc23_vfscanf, "fread", NO, VFSCANF, int, (FILE * stream, const char *format, va_list arguments),   \
      (stream, format, arguments))                                                                           \
    X(getchar, "fread", NO, NO, int, (void), ())                                                             \
    X(getchar_unlocked, "fread", NO, NO, int, (void), ())                                                    \
    X(gets, "fread", NO, NO, char *, (char *buffer), (buffer))                                               \
    X(__gets_chk, "fread", NO, NO, char *, (char *buffer, size_t room), (buffer, room))                      \
    X(__uflow, "fread", STREAM_READ, NO, int, (FILE * stream), (stream))                                     \
    X(scanf, "fread", NO, NO, int, (const char *format, ...), (format))                                      \
    X(vscanf, "fread", NO, NO, int, (const char *format, va_list arguments), (format, arguments))            \
    X(__isoc99_scanf, "fread", NO, NO, int, (const char *format, ...), (format))                             \
    X(__isoc99_vscanf, "fread", NO, NO, int, (const char *format, va_list arguments), (format, arguments))   \
    X(__isoc23_scanf, "fread", NO, NO, int, (const char *format, ...), (format))                             \
    X(__isoc23_vscanf, "fread", NO, NO, int, (const char *format, va_list arguments), (format, arguments))   \
    X(fwrite, "fwrite", STREAM_WRITE, STREAM, size_t,                                                        \
      (const void *buffer, size_t size, size_t items, FILE *stream), (buffer, size, items, stream))          \
    X(fwrite_unlocked, "fwrite", STREAM_WRITE, NO, size_t,                                                   \
      (const void *buffer, size_t size, size_t items, FILE *stream), (buffer, size, items, stream))          \
    X(fputs, "fwrite", STREAM_WRITE, STREAM, int, (const char *text, FILE *stream), (text, stream))          \
    X(fputs_unlocked, "fwrite", NO, NO, int, (const char *text, FILE *stream), (text, stream))               \
    X(fputc, "fwrite", STREAM_WRITE, STREAM, int, (int character, FILE *stream), (character, stream))        \
    X(putc, "fwrite", STREAM_WRITE, NO, int, (int character, FILE *stream), (character, stream))             \
    X(_IO_putc, "fwrite", NO, STREAM, int, (int character, FILE *stream), (character, stream))               \
    X(fputc_unlocked, "fwrite", NO, NO, int, (int character, FILE *stream), (character, stream))             \
    X(putc_unlocked, "fwrite", NO, NO, int, (int character, FILE *stream), (character, stream))              \
    X(putw, "fwrite", NO, STREAM, int, (int word, FILE *stream), (word, stream))                             \
    X(__overflow, "fwrite", STREAM_WRITE, NO, int, (FILE * stream, int character), (stream, character))      \
    X(putchar_unlocked, "fwrite", NO, NO, int, (int character), (character))                                 \
    X(puts, "fwrite", NO, NO, int, (const char *text), (text))                                               \
    X(putchar, "fwrite", NO, NO, int, (int character), (character))                                          \
    X(fprintf, "fwrite", NO, NO, int, (FILE * stream, const char *format, ...), (stream, format))            \
    X(vfprintf, "fwrite", NO, STREAM, int, (FILE * stream, const char *format, va_list arguments),           \
      (stream, format, arguments))                                                                           \
    X(__fprintf_chk, "fwrite", NO, NO, int, (FILE * stream, int flag, const char *format, ...),              \
      (stream, flag, format))                                                                                \
    X(__vfprintf_chk, "fwrite", NO, NO, int,                                                                 \
      (FILE * stream, int flag, const char *format, va_list arguments), (stream, flag, format, arguments))   \
    X(printf, "fwrite", NO, NO, int, (const char *format, ...), (format))                                    \
    X(vprintf, "fwrite", NO, NO, int, (const char *format, va_list arguments), (format, arguments))          \
    X(__printf_chk, "fwrite", NO, NO, int, (int flag, const char *format, ...), (flag, format))              \
    X(__vprintf_chk, "fwrite", NO, NO, int, (int flag, const char *format, va_list arguments),               \
      (flag, format, arguments))                                                                             \
    X(fseek, "fseek", NO, STREAM, int, (FILE * stream, long offset, int whence), (stream, offset, whence))   \
    X(fseeko, "fseek", NO, STREAM, int, (FILE * stream, off_t offset, int whence), (stream, offset, whence)) \
    X(fseeko64, "fseek", NO, STREAM, int, (FILE * stream, off64_t offset, int whence),                       \
      (stream, offset, whence))                                                                              \
    X(fsetpos, "fseek", NO, STREAM, int, (FILE * stream, const fpos_t *position), (stream, position))        \
    X(fsetpos64, "fseek", NO, STREAM, int, (FILE * stream, const fpos64_t *position), (stream, position))    \
    X(rewind, "fseek", NO, OWN, void, (FILE * stream), (stream))                                             \
    X(fflush, "fflush", STREAM_WRITE, STREAM, int, (FILE * stream), (stream))                                \
    X(fflush_unlocked, "fflush", NO, NO, int, (FILE * stream), (stream))

/* Streams of wide characters. Lengths are the bytes that the characters take in the file. */
#define TFD_WIDE_HOOKS(X)                                                                                    \
    X(fgetwc, "fread", STREAM_READ, NO, wint_t, (FILE * stream), (stream))                                   \
    X(getwc, "fread", STREAM_READ, NO, wint_t, (FILE * stream), (stream))                                    \
    X(fgetwc_unlocked, "fread", STREAM_READ, NO, wint_t, (FILE * stream), (stream))                          \
    X(getwc_unlocked, "fread", STREAM_READ, NO, wint_t, (FILE * stream), (stream))                           \
    X(getwchar, "fread", NO, NO, wint_t, (void), ())                                                         \
    X(getwchar_unlocked, "fread", NO, NO, wint_t, (void), ())                                                \
    X(fgetws, "fread", STREAM_READ, NO, wchar_t *, (wchar_t * buffer, int size, FILE *stream),               \
      (buffer, size, stream))                                                                                \
    X(fgetws_unlocked, "fread", STREAM_READ, NO, wchar_t *, (wchar_t * buffer, int size, FILE *stream),      \
      (buffer, size, stream))                                                                                \
    X(__fgetws_chk, "fread", STREAM_READ, NO, wchar_t *,                                                     \
      (wchar_t * buffer, size_t room, int size, FILE *stream), (buffer, room, size, stream))                 \
    X(__fgetws_unlocked_chk, "fread", STREAM_READ, NO, wchar_t *,                                            \
      (wchar_t * buffer, size_t room, int size, FILE *stream), (buffer, room, size, stream))                 \
    X(ungetwc, "", NO, NO, wint_t, (wint_t character, FILE * stream), (character, stream))                   \
    X(fwscanf, "fread", NO, NO, int, (FILE * stream, const wchar_t *format, ...), (stream, format))          \
    X(vfwscanf, "fread", STREAM_READ, NO, int, (FILE * stream, const wchar_t *format, va_list arguments),    \
      (stream, format, arguments))                                                                           \
    X(wscanf, "fread", NO, NO, int, (const wchar_t *format, ...), (format))                                  \
    X(vwscanf, "fread", NO, NO, int, (const wchar_t *format, va_list arguments), (format, arguments))        \
    X(__isoc99_fwscanf, "fread", NO, NO, int, (FILE * stream, const wchar_t *format, ...), (stream, format)) \
    X(__isoc99_vfwscanf, "fread", STREAM_READ, NO, int,                                                      \
      (FILE * stream, const wchar_t *format, va_list arguments), (stream, format, arguments))                \
    X(__isoc99_wscanf, "fread", NO, NO, int, (const wchar_t *format, ...), (format))                         \
    X(__isoc99_vwscanf, "fread", NO, NO, int, (const wchar_t *format, va_list arguments),                    \
      (format, arguments))                                                                                   \
    X(__isoc23_fwscanf, "fread", NO, NO, int, (FILE * stream, const wchar_t *format, ...), (stream, format)) \
    X(__isoc23_vfwscanf, "fread", STREAM_READ, NO, int,                                                      \
      (FILE * stream, const wchar_t *format, va_list arguments), (stream, format, arguments))                \
    X(__isoc23_wscanf, "fread", NO, NO, int, (const wchar_t *format, ...), (format))                         \
    X(__isoc23_vwscanf, "fread", NO, NO, int, (const wchar_t *format, va_list arguments),                    \
      (format, arguments))                                                                                   \
    X(fputwc, "fwrite", STREAM_WRITE, NO, wint_t, (wchar_t character, FILE * stream), (character, stream))   \
    X(putwc, "fwrite", STREAM_WRITE, NO, wint_t, (wchar_t character, FILE * stream), (character, stream))    \
    X(fputwc_unlocked, "fwrite", STREAM_WRITE, NO, wint_t, (wchar_t character, FILE * stream),               \
      (character, stream))                                                                                   \
    X(putwc_unlocked, "fwrite", STREAM_WRITE, NO, wint_t, (wchar_t character, FILE * stream),                \
      (character, stream))                                                                                   \
    X(putwchar, "fwrite", NO, NO, wint_t, (wchar_t character), (character))                                  \
    X(putwchar_unlocked, "fwrite", NO, NO, wint_t, (wchar_t character), (character))                         \
    X(fputws, "fwrite", STREAM_WRITE, NO, int, (const wchar_t *text, FILE *stream), (text, stream))          \
    X(fputws_unlocked, "fwrite", STREAM_WRITE, NO, int, (const wchar_t *text, FILE *stream), (text, stream)) \
    X(fwprintf, "fwrite", NO, NO, int, (FILE * stream, const wchar_t *format, ...), (stream, format))        \
    X(vfwprintf, "fwrite", STREAM_WRITE, NO, int, (FILE * stream, const wchar_t *format, va_list arguments), \
      (stream, format, arguments))                                                                           \
    X(wprintf, "fwrite", NO, NO, int, (const wchar_t *format, ...), (format))                                \
    X(vwprintf, "fwrite", NO, NO, int, (const wchar_t *format, va_list arguments), (format, arguments))      \
    X(__fwprintf_chk, "fwrite", NO, NO, int, (FILE * stream, int flag, const wchar_t *format, ...),          \
      (stream, flag, format))                                                                                \
    X(__vfwprintf_chk, "fwrite", STREAM_WRITE, NO, int,                                                      \
      (FILE * stream, int flag, const wchar_t *format, va_list arguments),                                   \
      (stream, flag, format, arguments))                                                                     \
    X(__wprintf_chk, "fwrite", NO, NO, int, (int flag, const wchar_t *format, ...), (flag, format))          \
    X(__vwprintf_chk, "fwrite", NO, NO, int, (int flag, const wchar_t *format, va_list arguments),           \
      (flag, format, arguments))

#define TFD_MAPPING_HOOKS(X, O)                                                                              \
    X(mmap, "mmap", NO, FD, void *,                                                                          \
      (void *address, size_t length, int protection, int flags, int fd, off_t offset),                       \
      (address, length, protection, flags, fd, offset))                                                      \
    X(mmap64, "mmap", NO, FD, void *,                                                                        \
      (void *address, size_t length, int protection, int flags, int fd, off64_t offset),                     \
      (address, length, protection, flags, fd, offset))                                                      \
    X(munmap, "", NO, NO, int, (void *address, size_t length), (address, length))                            \
    X(mremap, "", NO, NO, void *,                                                                            \
      (void *address, size_t old_size, size_t new_size, int flags, O(void *new_address)),                    \
      (address, old_size, new_size, flags, new_address))

/* These record nothing. They keep the recorder's state right (wrap_loader.c) or tell started programs of the session
 * (wrap_exec.c). */
#define TFD_LOADER_HOOKS(X)                                                                                  \
    X(dlsym, "", NO, NO, void *, (void *handle, const char *symbol), (handle, symbol))                       \
    X(vfork, "", NO, NO, pid_t, (void), ())                                                                  \
    X(_exit, "", NO, NO, void, (int status), (status))                                                       \
    X(_Exit, "", NO, NO, void, (int status), (status))                                                       \
    X(execve, "", NO, NO, int, (const char *path, char *const arguments[], char *const environment[]),       \
      (path, arguments, environment))                                                                        \
    X(execvpe, "", NO, NO, int, (const char *file, char *const arguments[], char *const environment[]),      \
      (file, arguments, environment))                                                                        \
    X(execv, "", NO, NO, int, (const char *path, char *const arguments[]), (path, arguments))                \
    X(execvp, "", NO, NO, int, (const char *file, char *const arguments[]), (file, arguments))               \
    X(execl, "", NO, NO, int, (const char *path, const char *argument, ...), (path, argument))               \
    X(execlp, "", NO, NO, int, (const char *file, const char *argument, ...), (file, argument))              \
    X(execle, "", NO, NO, int, (const char *path, const char *argument, ...), (path, argument))              \
    X(system, "", NO, NO, int, (const char *command), (command))                                             \
    X(popen, "", NO, NO, FILE *, (const char *command, const char *mode), (command, mode))                   \
    X(fexecve, "", NO, NO, int, (int fd, char *const arguments[], char *const environment[]),                \
      (fd, arguments, environment))                                                                          \
    X(execveat, "", NO, NO, int,                                                                             \
      (int dirfd, const char *path, char *const arguments[], char *const environment[], int flags),          \
      (dirfd, path, arguments, environment, flags))                                                          \
    X(posix_spawn, "", NO, NO, int,                                                                          \
      (pid_t * pid, const char *path, const posix_spawn_file_actions_t *actions,                             \
       const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[]),             \
      (pid, path, actions, attributes, arguments, environment))                                              \
    X(posix_spawnp, "", NO, NO, int,                                                                         \
      (pid_t * pid, const char *file, const posix_spawn_file_actions_t *actions,                             \
       const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[]),             \
      (pid, file, actions, attributes, arguments, environment))

/* These open ways to read and write without calls of the C library (recorder/bypasses.h). libaio and liburing define
 * them, or what of these a job brings along. */
#define TFD_LIBRARY_HOOKS(X)                                                                                 \
    X(io_setup, "", NO, NO, int, (int requests, void **context), (requests, context))                        \
    X(io_queue_init, "", NO, NO, int, (int requests, void **context), (requests, context))                   \
    X(io_uring_queue_init, "", NO, NO, int, (unsigned entries, void *ring, unsigned flags),                  \
      (entries, ring, flags))                                                                                \
    X(io_uring_queue_init_params, "", NO, NO, int, (unsigned entries, void *ring, void *parameters),         \
      (entries, ring, parameters))                                                                           \
    X(io_uring_queue_init_mem, "", NO, NO, int,                                                              \
      (unsigned entries, void *ring, void *parameters, void *memory, size_t bytes),                          \
      (entries, ring, parameters, memory, bytes))

/* Aliases of hooked functions that no header declares, or that differ only on machines with 32-bit file offsets:
 * A(name, symbol). A slot of an alias is patched if the alias is the same function. */
#define TFD_ALIASES(A)                                                                                       \
    A(__open, open)                                                                                          \
    A(__open64, open64)                                                                                      \
    A(__close, close)                                                                                        \
    A(__read, read)                                                                                          \
    A(__pread64, pread64)                                                                                    \
    A(__write, write)                                                                                        \
    A(__pwrite64, pwrite64)                                                                                  \
    A(__lseek, lseek)                                                                                        \
    A(llseek, lseek64)                                                                                       \
    A(__dup2, dup2)                                                                                          \
    A(__fcntl, fcntl)                                                                                        \
    A(aio_read64, aio_read)                                                                                  \
    A(aio_write64, aio_write)                                                                                \
    A(aio_fsync64, aio_fsync)                                                                                \
    A(lio_listio64, lio_listio)                                                                              \
    A(aio_error64, aio_error)                                                                                \
    A(aio_return64, aio_return)                                                                              \
    A(aio_suspend64, aio_suspend)                                                                            \
    A(_IO_fopen, fopen)                                                                                      \
    A(_IO_fdopen, fdopen)                                                                                    \
    A(_IO_fclose, fclose)                                                                                    \
    A(_IO_fread, fread)                                                                                      \
    A(_IO_fgets, fgets)                                                                                      \
    A(_IO_gets, gets)                                                                                        \
    A(_IO_ungetc, ungetc)                                                                                    \
    A(_IO_vfscanf, vfscanf)                                                                                  \
    A(__vfscanf, vfscanf)                                                                                    \
    A(_IO_fwrite, fwrite)                                                                                    \
    A(_IO_fputs, fputs)                                                                                      \
    A(_IO_puts, puts)                                                                                        \
    A(_IO_fprintf, fprintf)                                                                                  \
    A(_IO_printf, printf)                                                                                    \
    A(_IO_vfprintf, vfprintf)                                                                                \
    A(_IO_fsetpos, fsetpos)                                                                                  \
    A(_IO_fsetpos64, fsetpos64)                                                                              \
    A(_IO_fflush, fflush)                                                                                    \
    A(_IO_popen, popen)                                                                                      \
    A(__vfork, vfork)

#define TFD_HOOKS_WITH(X, O)                                                                                 \
    TFD_POSIX_HOOKS(X, O)                                                                                    \
    TFD_STDIO_HOOKS(X) TFD_WIDE_HOOKS(X) TFD_MAPPING_HOOKS(X, O) TFD_LOADER_HOOKS(X) TFD_LIBRARY_HOOKS(X)

/* For functions that pass a call on: they are given each parameter. */
#define TFD_GIVEN(parameter) parameter
#define TFD_HOOKS(X) TFD_HOOKS_WITH(X, TFD_GIVEN)
/* For declarations like those of the C library. */
#define TFD_VARIADIC(parameter) ...
#define TFD_DECLARED_HOOKS(X) TFD_HOOKS_WITH(X, TFD_VARIADIC)

enum tfd_hook {
#define X(symbol, ...) TFD_HOOK_##symbol,
    TFD_HOOKS(X)
#undef X
        TFD_HOOK_COUNT
};

/* From this one on they are of other libraries than the C library. */
#define TFD_FIRST_LIBRARY_HOOK TFD_HOOK_io_setup

struct tfd_hook_row {
    const char *symbol;
    const char *operation;
};

extern const struct tfd_hook_row tfd_hooks[TFD_HOOK_COUNT];

/* The function that a wrapper calls: the one that the program would call without us. */
extern void *tfd_next[TFD_HOOK_COUNT];
/* The same function without libdarshan. It never changes once it is set. */
extern void *tfd_definition[TFD_HOOK_COUNT];
/* A thread may be in a wrapper while another thread begins a session, or inserts the emulation or a guard. The acquire
 * also makes visible what was set up before the first session: the patched slot alone orders nothing. */
static inline void *tfd_next_of(unsigned hook)
{
    return __atomic_load_n(&tfd_next[hook], __ATOMIC_ACQUIRE);
}

#endif
