/* The calls that go through libdarshan, one row each:
 * X(symbol, result, parameters, arguments, condition, effect).
 *
 * The condition says whether Darshan may see this call: it must know the
 * descriptor or stream, by an open of this session that it saw. Otherwise it
 * would charge the call to whatever had the number before. The effect notes
 * what Darshan knows after a call that returned `returned`.
 *
 * Not here, because they need more than that: close, fclose, dup2, dup3,
 * fileno, freopen, rewind and the scanf family (guard.c). */
#ifndef TFD_DARSHAN_CALLS_H
#define TFD_DARSHAN_CALLS_H

#define TFD_DARSHAN_OPENS(X)                                                                                 \
    X(open, int, (const char *path, int flags, int mode), (path, flags, mode), !is_unnamed(flags),           \
      tfd_known_gain(returned))                                                                              \
    X(open64, int, (const char *path, int flags, int mode), (path, flags, mode), !is_unnamed(flags),         \
      tfd_known_gain(returned))                                                                              \
    X(__open_2, int, (const char *path, int flags), (path, flags), !is_unnamed(flags),                       \
      tfd_known_gain(returned))                                                                              \
    X(openat, int, (int dirfd, const char *path, int flags, int mode), (dirfd, path, flags, mode),           \
      !is_unnamed(flags) && is_resolvable(dirfd, path), tfd_known_gain(returned))                            \
    X(openat64, int, (int dirfd, const char *path, int flags, int mode), (dirfd, path, flags, mode),         \
      !is_unnamed(flags) && is_resolvable(dirfd, path), tfd_known_gain(returned))                            \
    X(creat, int, (const char *path, mode_t mode), (path, mode), true, tfd_known_gain(returned))             \
    X(creat64, int, (const char *path, mode_t mode), (path, mode), true, tfd_known_gain(returned))           \
    X(mkstemp, int, (char *path), (path), true, tfd_known_gain(returned))                                    \
    X(mkostemp, int, (char *path, int flags), (path, flags), true, tfd_known_gain(returned))                 \
    X(mkstemps, int, (char *path, int suffix), (path, suffix), true, tfd_known_gain(returned))               \
    X(mkostemps, int, (char *path, int suffix, int flags), (path, suffix, flags), true,                      \
      tfd_known_gain(returned))                                                                              \
    X(dup, int, (int fd), (fd), tfd_knows(fd), tfd_known_gain(returned))                                     \
    X(fcntl, int, (int fd, int command, void *argument), (fd, command, argument),                            \
      is_duplication(command) && tfd_knows(fd), tfd_known_gain(returned))                                    \
    X(fcntl64, int, (int fd, int command, void *argument), (fd, command, argument),                          \
      is_duplication(command) && tfd_knows(fd), tfd_known_gain(returned))                                    \
    X(fopen, FILE *, (const char *path, const char *mode), (path, mode), true,                               \
      tfd_known_gain_stream(returned))                                                                       \
    X(fopen64, FILE *, (const char *path, const char *mode), (path, mode), true,                             \
      tfd_known_gain_stream(returned))                                                                       \
    X(fdopen, FILE *, (int fd, const char *mode), (fd, mode), tfd_knows(fd),                                 \
      tfd_known_gain_stream_of(returned, fd))

#define TFD_DARSHAN_TRANSFERS(X)                                                                             \
    X(read, ssize_t, (int fd, void *buffer, size_t count), (fd, buffer, count), tfd_knows(fd), )             \
    X(pread, ssize_t, (int fd, void *buffer, size_t count, off_t offset), (fd, buffer, count, offset),       \
      tfd_knows(fd), )                                                                                       \
    X(pread64, ssize_t, (int fd, void *buffer, size_t count, off64_t offset), (fd, buffer, count, offset),   \
      tfd_knows(fd), )                                                                                       \
    X(readv, ssize_t, (int fd, const struct iovec *vector, int count), (fd, vector, count), tfd_knows(fd), ) \
    X(preadv, ssize_t, (int fd, const struct iovec *vector, int count, off_t offset),                        \
      (fd, vector, count, offset), tfd_knows(fd), )                                                          \
    X(preadv64, ssize_t, (int fd, const struct iovec *vector, int count, off64_t offset),                    \
      (fd, vector, count, offset), tfd_knows(fd), )                                                          \
    X(preadv2, ssize_t, (int fd, const struct iovec *vector, int count, off_t offset, int flags),            \
      (fd, vector, count, offset, flags), offset >= 0 && tfd_knows(fd), )                                    \
    X(preadv64v2, ssize_t, (int fd, const struct iovec *vector, int count, off64_t offset, int flags),       \
      (fd, vector, count, offset, flags), offset >= 0 && tfd_knows(fd), )                                    \
    X(write, ssize_t, (int fd, const void *buffer, size_t count), (fd, buffer, count), tfd_knows(fd), )      \
    X(pwrite, ssize_t, (int fd, const void *buffer, size_t count, off_t offset),                             \
      (fd, buffer, count, offset), tfd_knows(fd), )                                                          \
    X(pwrite64, ssize_t, (int fd, const void *buffer, size_t count, off64_t offset),                         \
      (fd, buffer, count, offset), tfd_knows(fd), )                                                          \
    X(writev, ssize_t, (int fd, const struct iovec *vector, int count), (fd, vector, count),                 \
      tfd_knows(fd), )                                                                                       \
    X(pwritev, ssize_t, (int fd, const struct iovec *vector, int count, off_t offset),                       \
      (fd, vector, count, offset), tfd_knows(fd), )                                                          \
    X(pwritev64, ssize_t, (int fd, const struct iovec *vector, int count, off64_t offset),                   \
      (fd, vector, count, offset), tfd_knows(fd), )                                                          \
    X(pwritev2, ssize_t, (int fd, const struct iovec *vector, int count, off_t offset, int flags),           \
      (fd, vector, count, offset, flags), offset >= 0 && tfd_knows(fd), )                                    \
    X(pwritev64v2, ssize_t, (int fd, const struct iovec *vector, int count, off64_t offset, int flags),      \
      (fd, vector, count, offset, flags), offset >= 0 && tfd_knows(fd), )                                    \
    X(lseek, off_t, (int fd, off_t offset, int whence), (fd, offset, whence), tfd_knows(fd), )               \
    X(lseek64, off64_t, (int fd, off64_t offset, int whence), (fd, offset, whence), tfd_knows(fd), )         \
    X(fsync, int, (int fd), (fd), tfd_knows(fd), )                                                           \
    X(fdatasync, int, (int fd), (fd), tfd_knows(fd), )                                                       \
    X(mmap, void *, (void *address, size_t length, int protection, int flags, int fd, off_t offset),         \
      (address, length, protection, flags, fd, offset), tfd_knows(fd), )                                     \
    X(mmap64, void *, (void *address, size_t length, int protection, int flags, int fd, off64_t offset),     \
      (address, length, protection, flags, fd, offset), tfd_knows(fd), )

#define TFD_DARSHAN_PATHS(X)                                                                                 \
    X(rename, int, (const char *from, const char *to), (from, to), true, )                                   \
    X(__xstat, int, (int version, const char *path, struct stat *status), (version, path, status), true, )   \
    X(__xstat64, int, (int version, const char *path, struct stat64 *status), (version, path, status),       \
      true, )                                                                                                \
    X(__lxstat, int, (int version, const char *path, struct stat *status), (version, path, status), true, )  \
    X(__lxstat64, int, (int version, const char *path, struct stat64 *status), (version, path, status),      \
      true, )                                                                                                \
    X(__fxstat, int, (int version, int fd, struct stat *status), (version, fd, status), tfd_knows(fd), )     \
    X(__fxstat64, int, (int version, int fd, struct stat64 *status), (version, fd, status), tfd_knows(fd), ) \
    X(stat, int, (const char *path, struct stat *status), (path, status), true, )                            \
    X(stat64, int, (const char *path, struct stat64 *status), (path, status), true, )                        \
    X(lstat, int, (const char *path, struct stat *status), (path, status), true, )                           \
    X(lstat64, int, (const char *path, struct stat64 *status), (path, status), true, )                       \
    X(fstat, int, (int fd, struct stat *status), (fd, status), tfd_knows(fd), )                              \
    X(fstat64, int, (int fd, struct stat64 *status), (fd, status), tfd_knows(fd), )

#define TFD_DARSHAN_STREAMS(X)                                                                               \
    X(fread, size_t, (void *buffer, size_t size, size_t items, FILE *stream), (buffer, size, items, stream), \
      tfd_knows_stream(stream), )                                                                            \
    X(fgets, char *, (char *buffer, int size, FILE *stream), (buffer, size, stream),                         \
      tfd_knows_stream(stream), )                                                                            \
    X(fgetc, int, (FILE * stream), (stream), tfd_knows_stream(stream), )                                     \
    X(_IO_getc, int, (FILE * stream), (stream), tfd_knows_stream(stream), )                                  \
    X(getw, int, (FILE * stream), (stream), tfd_knows_stream(stream), )                                      \
    X(fwrite, size_t, (const void *buffer, size_t size, size_t items, FILE *stream),                         \
      (buffer, size, items, stream), tfd_knows_stream(stream), )                                             \
    X(fputs, int, (const char *text, FILE *stream), (text, stream), tfd_knows_stream(stream), )              \
    X(fputc, int, (int character, FILE *stream), (character, stream), tfd_knows_stream(stream), )            \
    X(_IO_putc, int, (int character, FILE *stream), (character, stream), tfd_knows_stream(stream), )         \
    X(putw, int, (int word, FILE *stream), (word, stream), tfd_knows_stream(stream), )                       \
    X(vfprintf, int, (FILE * stream, const char *format, va_list list), (stream, format, list),              \
      tfd_knows_stream(stream), )                                                                            \
    X(fseek, int, (FILE * stream, long offset, int whence), (stream, offset, whence),                        \
      tfd_knows_stream(stream), )                                                                            \
    X(fseeko, int, (FILE * stream, off_t offset, int whence), (stream, offset, whence),                      \
      tfd_knows_stream(stream), )                                                                            \
    X(fseeko64, int, (FILE * stream, off64_t offset, int whence), (stream, offset, whence),                  \
      tfd_knows_stream(stream), )                                                                            \
    X(fsetpos, int, (FILE * stream, const fpos_t *position), (stream, position), tfd_knows_stream(stream), ) \
    X(fsetpos64, int, (FILE * stream, const fpos64_t *position), (stream, position),                         \
      tfd_knows_stream(stream), )                                                                            \
    X(fflush, int, (FILE * stream), (stream), tfd_knows_stream(stream), )

#define TFD_DARSHAN_CALLS(X)                                                                                 \
    TFD_DARSHAN_OPENS(X) TFD_DARSHAN_TRANSFERS(X) TFD_DARSHAN_PATHS(X) TFD_DARSHAN_STREAMS(X)

#endif
