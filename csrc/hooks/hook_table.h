/* Every hooked symbol, one row each: X(symbol, what its wrapper records).
 * A symbol the C library does not define is skipped at run time, so names of
 * old and new glibc stand side by side. */
#ifndef TFD_HOOK_TABLE_H
#define TFD_HOOK_TABLE_H

#define TFD_POSIX_HOOKS(X)                                                                                   \
    X(open, "open")                                                                                          \
    X(open64, "open")                                                                                        \
    X(__open_2, "open")                                                                                      \
    X(__open64_2, "open")                                                                                    \
    X(openat, "open")                                                                                        \
    X(openat64, "open")                                                                                      \
    X(__openat_2, "open")                                                                                    \
    X(__openat64_2, "open")                                                                                  \
    X(creat, "open")                                                                                         \
    X(creat64, "open")                                                                                       \
    X(mkstemp, "open")                                                                                       \
    X(mkstemp64, "open")                                                                                     \
    X(mkostemp, "open")                                                                                      \
    X(mkostemp64, "open")                                                                                    \
    X(mkstemps, "open")                                                                                      \
    X(mkstemps64, "open")                                                                                    \
    X(mkostemps, "open")                                                                                     \
    X(mkostemps64, "open")                                                                                   \
    X(close, "close")                                                                                        \
    X(close_range, "close")                                                                                  \
    X(closefrom, "close")                                                                                    \
    X(closedir, "close")                                                                                     \
    X(read, "read")                                                                                          \
    X(__read_chk, "read")                                                                                    \
    X(pread, "pread")                                                                                        \
    X(pread64, "pread")                                                                                      \
    X(__pread_chk, "pread")                                                                                  \
    X(__pread64_chk, "pread")                                                                                \
    X(readv, "readv")                                                                                        \
    X(preadv, "preadv")                                                                                      \
    X(preadv64, "preadv")                                                                                    \
    X(preadv2, "preadv")                                                                                     \
    X(preadv64v2, "preadv")                                                                                  \
    X(write, "write")                                                                                        \
    X(pwrite, "pwrite")                                                                                      \
    X(pwrite64, "pwrite")                                                                                    \
    X(writev, "writev")                                                                                      \
    X(pwritev, "pwritev")                                                                                    \
    X(pwritev64, "pwritev")                                                                                  \
    X(pwritev2, "pwritev")                                                                                   \
    X(pwritev64v2, "pwritev")                                                                                \
    X(lseek, "lseek")                                                                                        \
    X(lseek64, "lseek")                                                                                      \
    X(fsync, "fsync")                                                                                        \
    X(fdatasync, "fdatasync")                                                                                \
    X(dup, "dup")                                                                                            \
    X(dup2, "dup")                                                                                           \
    X(dup3, "dup")                                                                                           \
    X(fcntl, "dup")                                                                                          \
    X(fcntl64, "dup")                                                                                        \
    X(rename, "rename")                                                                                      \
    X(renameat, "rename")                                                                                    \
    X(renameat2, "rename")                                                                                   \
    X(unlink, "unlink")                                                                                      \
    X(unlinkat, "unlink")                                                                                    \
    X(remove, "unlink")                                                                                      \
    X(truncate, "truncate")                                                                                  \
    X(truncate64, "truncate")                                                                                \
    X(ftruncate, "truncate")                                                                                 \
    X(ftruncate64, "truncate")                                                                               \
    X(sendfile, "copy_read")                                                                                 \
    X(sendfile64, "copy_read")                                                                               \
    X(copy_file_range, "copy_read")                                                                          \
    X(splice, "copy_read")                                                                                   \
    X(stat, "stat")                                                                                          \
    X(stat64, "stat")                                                                                        \
    X(lstat, "stat")                                                                                         \
    X(lstat64, "stat")                                                                                       \
    X(fstatat, "stat")                                                                                       \
    X(fstatat64, "stat")                                                                                     \
    X(statx, "stat")                                                                                         \
    X(__xstat, "stat")                                                                                       \
    X(__xstat64, "stat")                                                                                     \
    X(__lxstat, "stat")                                                                                      \
    X(__lxstat64, "stat")                                                                                    \
    X(__fxstatat, "stat")                                                                                    \
    X(__fxstatat64, "stat")                                                                                  \
    X(fstat, "fstat")                                                                                        \
    X(fstat64, "fstat")                                                                                      \
    X(__fxstat, "fstat")                                                                                     \
    X(__fxstat64, "fstat")

#define TFD_STDIO_HOOKS(X)                                                                                   \
    X(fopen, "fopen")                                                                                        \
    X(fopen64, "fopen")                                                                                      \
    X(freopen, "fopen")                                                                                      \
    X(freopen64, "fopen")                                                                                    \
    X(tmpfile, "fopen")                                                                                      \
    X(tmpfile64, "fopen")                                                                                    \
    X(fdopen, "fdopen")                                                                                      \
    X(fclose, "fclose")                                                                                      \
    X(pclose, "fclose")                                                                                      \
    X(fileno, "fileno")                                                                                      \
    X(fileno_unlocked, "fileno")                                                                             \
    X(fread, "fread")                                                                                        \
    X(fread_unlocked, "fread")                                                                               \
    X(__fread_chk, "fread")                                                                                  \
    X(__fread_unlocked_chk, "fread")                                                                         \
    X(fgets, "fread")                                                                                        \
    X(fgets_unlocked, "fread")                                                                               \
    X(__fgets_chk, "fread")                                                                                  \
    X(__fgets_unlocked_chk, "fread")                                                                         \
    X(fgetc, "fread")                                                                                        \
    X(getc, "fread")                                                                                         \
    X(_IO_getc, "fread")                                                                                     \
    X(fgetc_unlocked, "fread")                                                                               \
    X(getc_unlocked, "fread")                                                                                \
    X(getw, "fread")                                                                                         \
    X(getline, "fread")                                                                                      \
    X(getdelim, "fread")                                                                                     \
    X(__getdelim, "fread")                                                                                   \
    X(fscanf, "fread")                                                                                       \
    X(vfscanf, "fread")                                                                                      \
    X(__isoc99_fscanf, "fread")                                                                              \
    X(__isoc99_vfscanf, "fread")                                                                             \
    X(__isoc23_fscanf, "fread")                                                                              \
    X(__isoc23_vfscanf, "fread")                                                                             \
    X(fwrite, "fwrite")                                                                                      \
    X(fwrite_unlocked, "fwrite")                                                                             \
    X(fputs, "fwrite")                                                                                       \
    X(fputs_unlocked, "fwrite")                                                                              \
    X(fputc, "fwrite")                                                                                       \
    X(putc, "fwrite")                                                                                        \
    X(_IO_putc, "fwrite")                                                                                    \
    X(fputc_unlocked, "fwrite")                                                                              \
    X(putc_unlocked, "fwrite")                                                                               \
    X(putw, "fwrite")                                                                                        \
    X(puts, "fwrite")                                                                                        \
    X(putchar, "fwrite")                                                                                     \
    X(fprintf, "fwrite")                                                                                     \
    X(vfprintf, "fwrite")                                                                                    \
    X(__fprintf_chk, "fwrite")                                                                               \
    X(__vfprintf_chk, "fwrite")                                                                              \
    X(printf, "fwrite")                                                                                      \
    X(vprintf, "fwrite")                                                                                     \
    X(__printf_chk, "fwrite")                                                                                \
    X(__vprintf_chk, "fwrite")                                                                               \
    X(fseek, "fseek")                                                                                        \
    X(fseeko, "fseek")                                                                                       \
    X(fseeko64, "fseek")                                                                                     \
    X(fsetpos, "fseek")                                                                                      \
    X(fsetpos64, "fseek")                                                                                    \
    X(rewind, "fseek")                                                                                       \
    X(fflush, "fflush")                                                                                      \
    X(fflush_unlocked, "fflush")

#define TFD_MAPPING_HOOKS(X)                                                                                 \
    X(mmap, "mmap")                                                                                          \
    X(mmap64, "mmap")

/* These record nothing: they keep the recorder right (see wrap_loader.c). */
#define TFD_LOADER_HOOKS(X)                                                                                  \
    X(dlsym, "")                                                                                             \
    X(vfork, "")                                                                                             \
    X(_exit, "")                                                                                             \
    X(_Exit, "")

#define TFD_HOOKS(X) TFD_POSIX_HOOKS(X) TFD_STDIO_HOOKS(X) TFD_MAPPING_HOOKS(X) TFD_LOADER_HOOKS(X)

enum tfd_hook {
#define X(symbol, operation) TFD_HOOK_##symbol,
    TFD_HOOKS(X)
#undef X
        TFD_HOOK_COUNT
};

struct tfd_hook_row {
    const char *symbol;
    const char *operation;
};

extern const struct tfd_hook_row tfd_hooks[TFD_HOOK_COUNT];

/* What a wrapper calls: the function the program would have called without us. */
extern void *tfd_next[TFD_HOOK_COUNT];
/* The same without libdarshan: never changes once it is set. */
extern void *tfd_definition[TFD_HOOK_COUNT];
#define TFD_NEXT(symbol) ((__typeof__(&symbol))tfd_next[TFD_HOOK_##symbol])

#endif
