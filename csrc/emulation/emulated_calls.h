/* The calls that storage emulation slows down, one row each:
 * X(symbol, result, parameters, arguments, ...).
 *
 * Not here, because they need more than that: close, dup2, dup3, close_range,
 * closefrom, fclose and the copies (emulation.c). */
#ifndef TFD_EMULATED_CALLS_H
#define TFD_EMULATED_CALLS_H

/* The mode argument is what our wrapper of the variadic function passes on. */
#define TFD_EMULATED_OPENS(X)                                                                                \
    X(open, int, (const char *path, int flags, int mode), (path, flags, mode))                               \
    X(open64, int, (const char *path, int flags, int mode), (path, flags, mode))                             \
    X(__open_2, int, (const char *path, int flags), (path, flags))                                           \
    X(__open64_2, int, (const char *path, int flags), (path, flags))                                         \
    X(openat, int, (int dirfd, const char *path, int flags, int mode), (dirfd, path, flags, mode))           \
    X(openat64, int, (int dirfd, const char *path, int flags, int mode), (dirfd, path, flags, mode))         \
    X(__openat_2, int, (int dirfd, const char *path, int flags), (dirfd, path, flags))                       \
    X(__openat64_2, int, (int dirfd, const char *path, int flags), (dirfd, path, flags))                     \
    X(creat, int, (const char *path, mode_t mode), (path, mode))                                             \
    X(creat64, int, (const char *path, mode_t mode), (path, mode))

#define TFD_EMULATED_STREAM_OPENS(X)                                                                         \
    X(fopen, FILE *, (const char *path, const char *mode), (path, mode))                                     \
    X(fopen64, FILE *, (const char *path, const char *mode), (path, mode))

/* One more: the offset, or -1 for the descriptor's own position; and whether it writes. */
#define TFD_EMULATED_TRANSFERS(X)                                                                            \
    X(read, ssize_t, (int fd, void *buffer, size_t count), (fd, buffer, count), -1, false)                   \
    X(__read_chk, ssize_t, (int fd, void *buffer, size_t count, size_t room), (fd, buffer, count, room), -1, \
      false)                                                                                                 \
    X(pread, ssize_t, (int fd, void *buffer, size_t count, off_t offset), (fd, buffer, count, offset),       \
      offset, false)                                                                                         \
    X(pread64, ssize_t, (int fd, void *buffer, size_t count, off64_t offset), (fd, buffer, count, offset),   \
      offset, false)                                                                                         \
    X(__pread_chk, ssize_t, (int fd, void *buffer, size_t count, off_t offset, size_t room),                 \
      (fd, buffer, count, offset, room), offset, false)                                                      \
    X(__pread64_chk, ssize_t, (int fd, void *buffer, size_t count, off64_t offset, size_t room),             \
      (fd, buffer, count, offset, room), offset, false)                                                      \
    X(readv, ssize_t, (int fd, const struct iovec *vector, int count), (fd, vector, count), -1, false)       \
    X(preadv, ssize_t, (int fd, const struct iovec *vector, int count, off_t offset),                        \
      (fd, vector, count, offset), offset, false)                                                            \
    X(preadv64, ssize_t, (int fd, const struct iovec *vector, int count, off64_t offset),                    \
      (fd, vector, count, offset), offset, false)                                                            \
    X(preadv2, ssize_t, (int fd, const struct iovec *vector, int count, off_t offset, int flags),            \
      (fd, vector, count, offset, flags), offset, false)                                                     \
    X(preadv64v2, ssize_t, (int fd, const struct iovec *vector, int count, off64_t offset, int flags),       \
      (fd, vector, count, offset, flags), offset, false)                                                     \
    X(write, ssize_t, (int fd, const void *buffer, size_t count), (fd, buffer, count), -1, true)             \
    X(pwrite, ssize_t, (int fd, const void *buffer, size_t count, off_t offset),                             \
      (fd, buffer, count, offset), offset, true)                                                             \
    X(pwrite64, ssize_t, (int fd, const void *buffer, size_t count, off64_t offset),                         \
      (fd, buffer, count, offset), offset, true)                                                             \
    X(writev, ssize_t, (int fd, const struct iovec *vector, int count), (fd, vector, count), -1, true)       \
    X(pwritev, ssize_t, (int fd, const struct iovec *vector, int count, off_t offset),                       \
      (fd, vector, count, offset), offset, true)                                                             \
    X(pwritev64, ssize_t, (int fd, const struct iovec *vector, int count, off64_t offset),                   \
      (fd, vector, count, offset), offset, true)                                                             \
    X(pwritev2, ssize_t, (int fd, const struct iovec *vector, int count, off_t offset, int flags),           \
      (fd, vector, count, offset, flags), offset, true)                                                      \
    X(pwritev64v2, ssize_t, (int fd, const struct iovec *vector, int count, off64_t offset, int flags),      \
      (fd, vector, count, offset, flags), offset, true)

/* One more: whether it writes. What a stream's buffer answers takes no time: only the
 * bytes count by which the descriptor's position moved. */
#define TFD_EMULATED_STREAMS(X)                                                                              \
    X(fread, size_t, (void *buffer, size_t size, size_t items, FILE *stream), (buffer, size, items, stream), \
      false)                                                                                                 \
    X(fread_unlocked, size_t, (void *buffer, size_t size, size_t items, FILE *stream),                       \
      (buffer, size, items, stream), false)                                                                  \
    X(__fread_chk, size_t, (void *buffer, size_t room, size_t size, size_t items, FILE *stream),             \
      (buffer, room, size, items, stream), false)                                                            \
    X(__fread_unlocked_chk, size_t, (void *buffer, size_t room, size_t size, size_t items, FILE *stream),    \
      (buffer, room, size, items, stream), false)                                                            \
    X(fgets, char *, (char *buffer, int size, FILE *stream), (buffer, size, stream), false)                  \
    X(getline, ssize_t, (char **line, size_t *capacity, FILE *stream), (line, capacity, stream), false)      \
    X(fgetc, int, (FILE * stream), (stream), false)                                                          \
    X(getc, int, (FILE * stream), (stream), false)                                                           \
    X(fwrite, size_t, (const void *buffer, size_t size, size_t items, FILE *stream),                         \
      (buffer, size, items, stream), true)                                                                   \
    X(fwrite_unlocked, size_t, (const void *buffer, size_t size, size_t items, FILE *stream),                \
      (buffer, size, items, stream), true)                                                                   \
    X(fputs, int, (const char *text, FILE *stream), (text, stream), true)                                    \
    X(fputc, int, (int character, FILE *stream), (character, stream), true)                                  \
    X(putc, int, (int character, FILE *stream), (character, stream), true)                                   \
    X(fflush, int, (FILE * stream), (stream), true)

/* By path; relative ones are looked up from dirfd. */
#define TFD_EMULATED_STATS(X)                                                                                \
    X(stat, (const char *path, struct stat *status), (path, status), AT_FDCWD)                               \
    X(stat64, (const char *path, struct stat64 *status), (path, status), AT_FDCWD)                           \
    X(lstat, (const char *path, struct stat *status), (path, status), AT_FDCWD)                              \
    X(lstat64, (const char *path, struct stat64 *status), (path, status), AT_FDCWD)                          \
    X(fstatat, (int dirfd, const char *path, struct stat *status, int flags), (dirfd, path, status, flags),  \
      dirfd)                                                                                                 \
    X(fstatat64, (int dirfd, const char *path, struct stat64 *status, int flags),                            \
      (dirfd, path, status, flags), dirfd)                                                                   \
    X(statx, (int dirfd, const char *path, int flags, unsigned mask, struct statx *status),                  \
      (dirfd, path, flags, mask, status), dirfd)                                                             \
    X(__xstat, (int version, const char *path, struct stat *status), (version, path, status), AT_FDCWD)      \
    X(__xstat64, (int version, const char *path, struct stat64 *status), (version, path, status), AT_FDCWD)  \
    X(__lxstat, (int version, const char *path, struct stat *status), (version, path, status), AT_FDCWD)     \
    X(__lxstat64, (int version, const char *path, struct stat64 *status), (version, path, status), AT_FDCWD) \
    X(__fxstatat, (int version, int dirfd, const char *path, struct stat *status, int flags),                \
      (version, dirfd, path, status, flags), dirfd)                                                          \
    X(__fxstatat64, (int version, int dirfd, const char *path, struct stat64 *status, int flags),            \
      (version, dirfd, path, status, flags), dirfd)

#define TFD_EMULATED_SYNCS(X)                                                                                \
    X(fsync)                                                                                                 \
    X(fdatasync)

#endif
