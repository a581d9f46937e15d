/* Calls that read, write, position and sync descriptors, that copy between them, and that map files. */
#define _GNU_SOURCE
#include "probe/probe_files.h"

#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>

static bool probe_read(struct probe_files *files)
{
    return call_read(files->fd[0], files->buffer, TFD_PROBE_TRANSFER_BYTES) == TFD_PROBE_TRANSFER_BYTES;
}

static bool probe___read_chk(struct probe_files *files)
{
    return call___read_chk(files->fd[0], files->buffer, TFD_PROBE_TRANSFER_BYTES, sizeof files->buffer) ==
           TFD_PROBE_TRANSFER_BYTES;
}

static bool probe_pread(struct probe_files *files)
{
    return call_pread(files->fd[0], files->buffer, TFD_PROBE_TRANSFER_BYTES, 7) == TFD_PROBE_TRANSFER_BYTES;
}

static bool probe_pread64(struct probe_files *files)
{
    return call_pread64(files->fd[0], files->buffer, TFD_PROBE_TRANSFER_BYTES, 7) == TFD_PROBE_TRANSFER_BYTES;
}

static bool probe___pread_chk(struct probe_files *files)
{
    return call___pread_chk(files->fd[0], files->buffer, TFD_PROBE_TRANSFER_BYTES, 7, sizeof files->buffer) ==
           TFD_PROBE_TRANSFER_BYTES;
}

static bool probe___pread64_chk(struct probe_files *files)
{
    return call___pread64_chk(files->fd[0], files->buffer, TFD_PROBE_TRANSFER_BYTES, 7,
                              sizeof files->buffer) == TFD_PROBE_TRANSFER_BYTES;
}

static bool probe_readv(struct probe_files *files)
{
    return call_readv(files->fd[0], &files->vector, 1) == TFD_PROBE_TRANSFER_BYTES;
}

static bool probe_preadv(struct probe_files *files)
{
    return call_preadv(files->fd[0], &files->vector, 1, 7) == TFD_PROBE_TRANSFER_BYTES;
}

static bool probe_preadv64(struct probe_files *files)
{
    return call_preadv64(files->fd[0], &files->vector, 1, 7) == TFD_PROBE_TRANSFER_BYTES;
}

static bool probe_preadv2(struct probe_files *files)
{
    return call_preadv2(files->fd[0], &files->vector, 1, 7, 0) == TFD_PROBE_TRANSFER_BYTES;
}

static bool probe_preadv64v2(struct probe_files *files)
{
    return call_preadv64v2(files->fd[0], &files->vector, 1, 7, 0) == TFD_PROBE_TRANSFER_BYTES;
}

static bool probe_write(struct probe_files *files)
{
    return call_write(files->fd[0], files->buffer, TFD_PROBE_TRANSFER_BYTES) == TFD_PROBE_TRANSFER_BYTES;
}

static bool probe_pwrite(struct probe_files *files)
{
    return call_pwrite(files->fd[0], files->buffer, TFD_PROBE_TRANSFER_BYTES, 7) == TFD_PROBE_TRANSFER_BYTES;
}

static bool probe_pwrite64(struct probe_files *files)
{
    return call_pwrite64(files->fd[0], files->buffer, TFD_PROBE_TRANSFER_BYTES, 7) ==
           TFD_PROBE_TRANSFER_BYTES;
}

static bool probe_writev(struct probe_files *files)
{
    return call_writev(files->fd[0], &files->vector, 1) == TFD_PROBE_TRANSFER_BYTES;
}

static bool probe_pwritev(struct probe_files *files)
{
    return call_pwritev(files->fd[0], &files->vector, 1, 7) == TFD_PROBE_TRANSFER_BYTES;
}

static bool probe_pwritev64(struct probe_files *files)
{
    return call_pwritev64(files->fd[0], &files->vector, 1, 7) == TFD_PROBE_TRANSFER_BYTES;
}

static bool probe_pwritev2(struct probe_files *files)
{
    return call_pwritev2(files->fd[0], &files->vector, 1, 7, 0) == TFD_PROBE_TRANSFER_BYTES;
}

static bool probe_pwritev64v2(struct probe_files *files)
{
    return call_pwritev64v2(files->fd[0], &files->vector, 1, 7, 0) == TFD_PROBE_TRANSFER_BYTES;
}

static int print(int (*function)(int, const char *, va_list), int fd, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int result = function(fd, format, arguments);
    va_end(arguments);
    return result;
}

static int print_checked(int (*function)(int, int, const char *, va_list), int fd, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int result = function(fd, 1, format, arguments);
    va_end(arguments);
    return result;
}

static bool probe_dprintf(struct probe_files *files)
{
    return call_dprintf(files->fd[0], "%d %s", 12, "apples") == 9;
}

static bool probe_vdprintf(struct probe_files *files)
{
    return print(call_vdprintf, files->fd[0], "%d %s", 12, "apples") == 9;
}

static bool probe___dprintf_chk(struct probe_files *files)
{
    return call___dprintf_chk(files->fd[0], 1, "%d %s", 12, "apples") == 9;
}

static bool probe___vdprintf_chk(struct probe_files *files)
{
    return print_checked(call___vdprintf_chk, files->fd[0], "%d %s", 12, "apples") == 9;
}

static bool probe_lseek(struct probe_files *files)
{
    return call_lseek(files->fd[0], 70, SEEK_SET) == 70;
}

static bool probe_lseek64(struct probe_files *files)
{
    return call_lseek64(files->fd[0], 70, SEEK_SET) == 70;
}

static bool probe_fsync(struct probe_files *files)
{
    return call_fsync(files->fd[0]) == 0;
}

static bool probe_fdatasync(struct probe_files *files)
{
    return call_fdatasync(files->fd[0]) == 0;
}

static bool probe_sendfile(struct probe_files *files)
{
    off_t from = 7;
    return call_sendfile(files->fd[1], files->fd[0], &from, TFD_PROBE_TRANSFER_BYTES) ==
               TFD_PROBE_TRANSFER_BYTES &&
           from == 7 + TFD_PROBE_TRANSFER_BYTES;
}

static bool probe_sendfile64(struct probe_files *files)
{
    off_t from = 7;
    return call_sendfile64(files->fd[1], files->fd[0], &from, TFD_PROBE_TRANSFER_BYTES) ==
               TFD_PROBE_TRANSFER_BYTES &&
           from == 7 + TFD_PROBE_TRANSFER_BYTES;
}

static bool probe_copy_file_range(struct probe_files *files)
{
    off_t from = 7, to = 8;
    return call_copy_file_range(files->fd[0], &from, files->fd[1], &to, TFD_PROBE_TRANSFER_BYTES, 0) ==
           TFD_PROBE_TRANSFER_BYTES;
}

static bool probe_splice(struct probe_files *files)
{
    off_t from = 7;
    return call_splice(files->fd[0], &from, files->pipe[1], NULL, TFD_PROBE_TRANSFER_BYTES, 0) ==
           TFD_PROBE_TRANSFER_BYTES;
}

static bool probe_mmap(struct probe_files *files)
{
    files->mapping = call_mmap(NULL, TFD_PROBE_FILE_BYTES, PROT_READ, MAP_PRIVATE, files->fd[0], 0);
    return files->mapping != MAP_FAILED && !memcmp(files->mapping, TFD_PROBE_LINE, TFD_PROBE_LINE_BYTES);
}

static bool probe_mmap64(struct probe_files *files)
{
    files->mapping = call_mmap64(NULL, TFD_PROBE_FILE_BYTES, PROT_READ, MAP_PRIVATE, files->fd[0], 0);
    return files->mapping != MAP_FAILED && !memcmp(files->mapping, TFD_PROBE_LINE, TFD_PROBE_LINE_BYTES);
}

static void *map_no_file(size_t length)
{
    return call_mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static bool probe_munmap(struct probe_files *files)
{
    (void)files;
    void *mapped = map_no_file(TFD_PROBE_FILE_BYTES);
    return mapped != MAP_FAILED && !call_munmap(mapped, TFD_PROBE_FILE_BYTES);
}

static bool probe_mremap(struct probe_files *files)
{
    void *mapped = map_no_file(TFD_PROBE_FILE_BYTES);
    files->mapping = call_mremap(mapped, TFD_PROBE_FILE_BYTES, TFD_PROBE_FILE_BYTES, 0);
    return mapped != MAP_FAILED && files->mapping == mapped;
}

const struct probe tfd_transfer_probes[] = {
    {"read", (void *)call_read, probe_read, {{"read", 0, TFD_PROBE_TRANSFER_BYTES, 0}}},
    {"__read_chk", (void *)call___read_chk, probe___read_chk, {{"read", 0, TFD_PROBE_TRANSFER_BYTES, 0}}},
    {"pread", (void *)call_pread, probe_pread, {{"pread", 7, TFD_PROBE_TRANSFER_BYTES, 0}}},
    {"pread64", (void *)call_pread64, probe_pread64, {{"pread", 7, TFD_PROBE_TRANSFER_BYTES, 0}}},
    {"__pread_chk", (void *)call___pread_chk, probe___pread_chk, {{"pread", 7, TFD_PROBE_TRANSFER_BYTES, 0}}},
    {"__pread64_chk",
     (void *)call___pread64_chk,
     probe___pread64_chk,
     {{"pread", 7, TFD_PROBE_TRANSFER_BYTES, 0}}},
    {"readv", (void *)call_readv, probe_readv, {{"readv", 0, TFD_PROBE_TRANSFER_BYTES, 0}}},
    {"preadv", (void *)call_preadv, probe_preadv, {{"preadv", 7, TFD_PROBE_TRANSFER_BYTES, 0}}},
    {"preadv64", (void *)call_preadv64, probe_preadv64, {{"preadv", 7, TFD_PROBE_TRANSFER_BYTES, 0}}},
    {"preadv2", (void *)call_preadv2, probe_preadv2, {{"preadv", 7, TFD_PROBE_TRANSFER_BYTES, 0}}},
    {"preadv64v2", (void *)call_preadv64v2, probe_preadv64v2, {{"preadv", 7, TFD_PROBE_TRANSFER_BYTES, 0}}},
    {"write", (void *)call_write, probe_write, {{"write", 0, TFD_PROBE_TRANSFER_BYTES, 0}}},
    {"pwrite", (void *)call_pwrite, probe_pwrite, {{"pwrite", 7, TFD_PROBE_TRANSFER_BYTES, 0}}},
    {"pwrite64", (void *)call_pwrite64, probe_pwrite64, {{"pwrite", 7, TFD_PROBE_TRANSFER_BYTES, 0}}},
    {"writev", (void *)call_writev, probe_writev, {{"writev", 0, TFD_PROBE_TRANSFER_BYTES, 0}}},
    {"pwritev", (void *)call_pwritev, probe_pwritev, {{"pwritev", 7, TFD_PROBE_TRANSFER_BYTES, 0}}},
    {"pwritev64", (void *)call_pwritev64, probe_pwritev64, {{"pwritev", 7, TFD_PROBE_TRANSFER_BYTES, 0}}},
    {"pwritev2", (void *)call_pwritev2, probe_pwritev2, {{"pwritev", 7, TFD_PROBE_TRANSFER_BYTES, 0}}},
    {"pwritev64v2",
     (void *)call_pwritev64v2,
     probe_pwritev64v2,
     {{"pwritev", 7, TFD_PROBE_TRANSFER_BYTES, 0}}},
    {"dprintf", (void *)call_dprintf, probe_dprintf, {{"write", 0, 9, 0}}},
    {"vdprintf", (void *)call_vdprintf, probe_vdprintf, {{"write", 0, 9, 0}}},
    {"__dprintf_chk", (void *)call___dprintf_chk, probe___dprintf_chk, {{"write", 0, 9, 0}}},
    {"__vdprintf_chk", (void *)call___vdprintf_chk, probe___vdprintf_chk, {{"write", 0, 9, 0}}},
    {"lseek", (void *)call_lseek, probe_lseek, {{"lseek", 70, 0, 0}}},
    {"lseek64", (void *)call_lseek64, probe_lseek64, {{"lseek", 70, 0, 0}}},
    {"fsync", (void *)call_fsync, probe_fsync, {{"fsync", -1, 0, 0}}},
    {"fdatasync", (void *)call_fdatasync, probe_fdatasync, {{"fdatasync", -1, 0, 0}}},
    {"sendfile",
     (void *)call_sendfile,
     probe_sendfile,
     {{"copy_read", 7, TFD_PROBE_TRANSFER_BYTES, 0}, {"copy_write", 0, TFD_PROBE_TRANSFER_BYTES, 1}}},
    {"sendfile64",
     (void *)call_sendfile64,
     probe_sendfile64,
     {{"copy_read", 7, TFD_PROBE_TRANSFER_BYTES, 0}, {"copy_write", 0, TFD_PROBE_TRANSFER_BYTES, 1}}},
    {"copy_file_range",
     (void *)call_copy_file_range,
     probe_copy_file_range,
     {{"copy_read", 7, TFD_PROBE_TRANSFER_BYTES, 0}, {"copy_write", 8, TFD_PROBE_TRANSFER_BYTES, 1}}},
    {"splice", (void *)call_splice, probe_splice, {{"copy_read", 7, TFD_PROBE_TRANSFER_BYTES, 0}}},
    {"mmap", (void *)call_mmap, probe_mmap, {{"mmap", 0, TFD_PROBE_FILE_BYTES, 0}}},
    {"mmap64", (void *)call_mmap64, probe_mmap64, {{"mmap", 0, TFD_PROBE_FILE_BYTES, 0}}},
    {"munmap", (void *)call_munmap, probe_munmap, {{0}}},
    {"mremap", (void *)call_mremap, probe_mremap, {{0}}},
    {0},
};
