/* Declarations of every wrapper. */
#ifndef TFD_WRAPPERS_H
#define TFD_WRAPPERS_H

#include "hooks/libc_functions.h"

/* wrap_posix.c */
int tfd_wrap_open(const char *path, int flags, ...);
int tfd_wrap_open64(const char *path, int flags, ...);
int tfd_wrap___open_2(const char *path, int flags);
int tfd_wrap___open64_2(const char *path, int flags);
int tfd_wrap_openat(int dirfd, const char *path, int flags, ...);
int tfd_wrap_openat64(int dirfd, const char *path, int flags, ...);
int tfd_wrap___openat_2(int dirfd, const char *path, int flags);
int tfd_wrap___openat64_2(int dirfd, const char *path, int flags);
int tfd_wrap_creat(const char *path, mode_t mode);
int tfd_wrap_creat64(const char *path, mode_t mode);
int tfd_wrap_mkstemp(char *template);
int tfd_wrap_mkstemp64(char *template);
int tfd_wrap_mkostemp(char *template, int flags);
int tfd_wrap_mkostemp64(char *template, int flags);
int tfd_wrap_mkstemps(char *template, int suffix_length);
int tfd_wrap_mkstemps64(char *template, int suffix_length);
int tfd_wrap_mkostemps(char *template, int suffix_length, int flags);
int tfd_wrap_mkostemps64(char *template, int suffix_length, int flags);
int tfd_wrap_close(int fd);
int tfd_wrap_close_range(unsigned first, unsigned last, int flags);
void tfd_wrap_closefrom(int first);
int tfd_wrap_closedir(DIR *directory);
ssize_t tfd_wrap_read(int fd, void *buffer, size_t count);
ssize_t tfd_wrap___read_chk(int fd, void *buffer, size_t count, size_t buffer_size);
ssize_t tfd_wrap_pread(int fd, void *buffer, size_t count, off_t offset);
ssize_t tfd_wrap_pread64(int fd, void *buffer, size_t count, off64_t offset);
ssize_t tfd_wrap___pread_chk(int fd, void *buffer, size_t count, off_t offset, size_t buffer_size);
ssize_t tfd_wrap___pread64_chk(int fd, void *buffer, size_t count, off64_t offset, size_t buffer_size);
ssize_t tfd_wrap_readv(int fd, const struct iovec *vector, int count);
ssize_t tfd_wrap_preadv(int fd, const struct iovec *vector, int count, off_t offset);
ssize_t tfd_wrap_preadv64(int fd, const struct iovec *vector, int count, off64_t offset);
ssize_t tfd_wrap_preadv2(int fd, const struct iovec *vector, int count, off_t offset, int flags);
ssize_t tfd_wrap_preadv64v2(int fd, const struct iovec *vector, int count, off64_t offset, int flags);
ssize_t tfd_wrap_write(int fd, const void *buffer, size_t count);
ssize_t tfd_wrap_pwrite(int fd, const void *buffer, size_t count, off_t offset);
ssize_t tfd_wrap_pwrite64(int fd, const void *buffer, size_t count, off64_t offset);
ssize_t tfd_wrap_writev(int fd, const struct iovec *vector, int count);
ssize_t tfd_wrap_pwritev(int fd, const struct iovec *vector, int count, off_t offset);
ssize_t tfd_wrap_pwritev64(int fd, const struct iovec *vector, int count, off64_t offset);
ssize_t tfd_wrap_pwritev2(int fd, const struct iovec *vector, int count, off_t offset, int flags);
ssize_t tfd_wrap_pwritev64v2(int fd, const struct iovec *vector, int count, off64_t offset, int flags);
off_t tfd_wrap_lseek(int fd, off_t offset, int whence);
off64_t tfd_wrap_lseek64(int fd, off64_t offset, int whence);
int tfd_wrap_fsync(int fd);
int tfd_wrap_fdatasync(int fd);
int tfd_wrap_dup(int fd);
int tfd_wrap_dup2(int fd, int copy);
int tfd_wrap_dup3(int fd, int copy, int flags);
int tfd_wrap_fcntl(int fd, int command, ...);
int tfd_wrap_fcntl64(int fd, int command, ...);
int tfd_wrap_rename(const char *old_path, const char *new_path);
int tfd_wrap_renameat(int old_dirfd, const char *old_path, int new_dirfd, const char *new_path);
int tfd_wrap_renameat2(int old_dirfd, const char *old_path, int new_dirfd, const char *new_path,
                       unsigned flags);
int tfd_wrap_unlink(const char *path);
int tfd_wrap_unlinkat(int dirfd, const char *path, int flags);
int tfd_wrap_remove(const char *path);
int tfd_wrap_truncate(const char *path, off_t length);
int tfd_wrap_truncate64(const char *path, off64_t length);
int tfd_wrap_ftruncate(int fd, off_t length);
int tfd_wrap_ftruncate64(int fd, off64_t length);
ssize_t tfd_wrap_sendfile(int out_fd, int in_fd, off_t *offset, size_t count);
ssize_t tfd_wrap_sendfile64(int out_fd, int in_fd, off64_t *offset, size_t count);
ssize_t tfd_wrap_copy_file_range(int in_fd, off64_t *in_offset, int out_fd, off64_t *out_offset, size_t count,
                                 unsigned flags);
ssize_t tfd_wrap_splice(int in_fd, off64_t *in_offset, int out_fd, off64_t *out_offset, size_t count,
                        unsigned flags);

/* wrap_stat.c */
int tfd_wrap_stat(const char *path, struct stat *status);
int tfd_wrap_stat64(const char *path, struct stat64 *status);
int tfd_wrap_lstat(const char *path, struct stat *status);
int tfd_wrap_lstat64(const char *path, struct stat64 *status);
int tfd_wrap_fstatat(int dirfd, const char *path, struct stat *status, int flags);
int tfd_wrap_fstatat64(int dirfd, const char *path, struct stat64 *status, int flags);
int tfd_wrap_statx(int dirfd, const char *path, int flags, unsigned mask, struct statx *status);
int tfd_wrap___xstat(int version, const char *path, struct stat *status);
int tfd_wrap___xstat64(int version, const char *path, struct stat64 *status);
int tfd_wrap___lxstat(int version, const char *path, struct stat *status);
int tfd_wrap___lxstat64(int version, const char *path, struct stat64 *status);
int tfd_wrap___fxstatat(int version, int dirfd, const char *path, struct stat *status, int flags);
int tfd_wrap___fxstatat64(int version, int dirfd, const char *path, struct stat64 *status, int flags);
int tfd_wrap_fstat(int fd, struct stat *status);
int tfd_wrap_fstat64(int fd, struct stat64 *status);
int tfd_wrap___fxstat(int version, int fd, struct stat *status);
int tfd_wrap___fxstat64(int version, int fd, struct stat64 *status);

/* wrap_mapping.c */
void *tfd_wrap_mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset);
void *tfd_wrap_mmap64(void *address, size_t length, int protection, int flags, int fd, off64_t offset);

/* wrap_stdio.c */
FILE *tfd_wrap_fopen(const char *path, const char *mode);
FILE *tfd_wrap_fopen64(const char *path, const char *mode);
FILE *tfd_wrap_freopen(const char *path, const char *mode, FILE *stream);
FILE *tfd_wrap_freopen64(const char *path, const char *mode, FILE *stream);
FILE *tfd_wrap_tmpfile(void);
FILE *tfd_wrap_tmpfile64(void);
FILE *tfd_wrap_fdopen(int fd, const char *mode);
int tfd_wrap_fclose(FILE *stream);
int tfd_wrap_pclose(FILE *stream);
int tfd_wrap_fileno(FILE *stream);
int tfd_wrap_fileno_unlocked(FILE *stream);
size_t tfd_wrap_fread(void *buffer, size_t size, size_t items, FILE *stream);
size_t tfd_wrap_fread_unlocked(void *buffer, size_t size, size_t items, FILE *stream);
size_t tfd_wrap___fread_chk(void *buffer, size_t room, size_t size, size_t items, FILE *stream);
size_t tfd_wrap___fread_unlocked_chk(void *buffer, size_t room, size_t size, size_t items, FILE *stream);
char *tfd_wrap_fgets(char *buffer, int size, FILE *stream);
char *tfd_wrap_fgets_unlocked(char *buffer, int size, FILE *stream);
char *tfd_wrap___fgets_chk(char *buffer, size_t room, int size, FILE *stream);
char *tfd_wrap___fgets_unlocked_chk(char *buffer, size_t room, int size, FILE *stream);
int tfd_wrap_fgetc(FILE *stream);
int tfd_wrap_getc(FILE *stream);
int tfd_wrap__IO_getc(FILE *stream);
int tfd_wrap_fgetc_unlocked(FILE *stream);
int tfd_wrap_getc_unlocked(FILE *stream);
int tfd_wrap_getw(FILE *stream);
ssize_t tfd_wrap_getline(char **line, size_t *capacity, FILE *stream);
ssize_t tfd_wrap_getdelim(char **line, size_t *capacity, int delimiter, FILE *stream);
ssize_t tfd_wrap___getdelim(char **line, size_t *capacity, int delimiter, FILE *stream);
int tfd_wrap_vfscanf(FILE *stream, const char *format, va_list arguments);
int tfd_wrap___isoc99_vfscanf(FILE *stream, const char *format, va_list arguments);
int tfd_wrap___isoc23_vfscanf(FILE *stream, const char *format, va_list arguments);
int tfd_wrap_fscanf(FILE *stream, const char *format, ...);
int tfd_wrap___isoc99_fscanf(FILE *stream, const char *format, ...);
int tfd_wrap___isoc23_fscanf(FILE *stream, const char *format, ...);
size_t tfd_wrap_fwrite(const void *buffer, size_t size, size_t items, FILE *stream);
size_t tfd_wrap_fwrite_unlocked(const void *buffer, size_t size, size_t items, FILE *stream);
int tfd_wrap_fputs(const char *text, FILE *stream);
int tfd_wrap_fputs_unlocked(const char *text, FILE *stream);
int tfd_wrap_fputc(int character, FILE *stream);
int tfd_wrap_putc(int character, FILE *stream);
int tfd_wrap__IO_putc(int character, FILE *stream);
int tfd_wrap_fputc_unlocked(int character, FILE *stream);
int tfd_wrap_putc_unlocked(int character, FILE *stream);
int tfd_wrap_putw(int word, FILE *stream);
int tfd_wrap_puts(const char *text);
int tfd_wrap_putchar(int character);
int tfd_wrap_vfprintf(FILE *stream, const char *format, va_list arguments);
int tfd_wrap___vfprintf_chk(FILE *stream, int flag, const char *format, va_list arguments);
int tfd_wrap_fprintf(FILE *stream, const char *format, ...);
int tfd_wrap___fprintf_chk(FILE *stream, int flag, const char *format, ...);
int tfd_wrap_vprintf(const char *format, va_list arguments);
int tfd_wrap___vprintf_chk(int flag, const char *format, va_list arguments);
int tfd_wrap_printf(const char *format, ...);
int tfd_wrap___printf_chk(int flag, const char *format, ...);
int tfd_wrap_fseek(FILE *stream, long offset, int whence);
int tfd_wrap_fseeko(FILE *stream, off_t offset, int whence);
int tfd_wrap_fseeko64(FILE *stream, off64_t offset, int whence);
int tfd_wrap_fsetpos(FILE *stream, const fpos_t *position);
int tfd_wrap_fsetpos64(FILE *stream, const fpos64_t *position);
void tfd_wrap_rewind(FILE *stream);
int tfd_wrap_fflush(FILE *stream);
int tfd_wrap_fflush_unlocked(FILE *stream);

/* wrap_loader.c */
void tfd_wrap__exit(int status);
void tfd_wrap__Exit(int status);

void tfd_wrap_dlsym(void);
void tfd_wrap_vfork(void);

#endif
