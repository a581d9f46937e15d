/* Calls that name a file, and stat() calls. */
#define _GNU_SOURCE
#include "probe/probe_files.h"

/* Version of struct stat for the stat functions of glibc before 2.33. */
#if defined(__x86_64__)
#define STAT_VERSION 1
#else
#define STAT_VERSION 0
#endif

static bool probe_rename(struct probe_files *files)
{
    return call_rename(files->path[0], files->path[2]) == 0;
}

static bool probe_renameat(struct probe_files *files)
{
    return call_renameat(AT_FDCWD, files->path[0], AT_FDCWD, files->path[2]) == 0;
}

static bool probe_renameat2(struct probe_files *files)
{
    return call_renameat2(AT_FDCWD, files->path[0], AT_FDCWD, files->path[2], RENAME_NOREPLACE) == 0;
}

static bool probe_unlink(struct probe_files *files)
{
    return call_unlink(files->path[0]) == 0;
}

static bool probe_unlinkat(struct probe_files *files)
{
    return call_unlinkat(AT_FDCWD, files->path[0], 0) == 0;
}

static bool probe_remove(struct probe_files *files)
{
    return call_remove(files->path[0]) == 0;
}

static bool probe_truncate(struct probe_files *files)
{
    return call_truncate(files->path[0], 1234) == 0;
}

static bool probe_truncate64(struct probe_files *files)
{
    return call_truncate64(files->path[0], 1234) == 0;
}

static bool probe_ftruncate(struct probe_files *files)
{
    return call_ftruncate(files->fd[0], 1234) == 0;
}

static bool probe_ftruncate64(struct probe_files *files)
{
    return call_ftruncate64(files->fd[0], 1234) == 0;
}

static bool probe_stat(struct probe_files *files)
{
    return call_stat(files->path[0], &files->status) == 0 && files->status.st_size == TFD_PROBE_FILE_BYTES;
}

static bool probe_stat64(struct probe_files *files)
{
    return call_stat64(files->path[0], &files->status64) == 0 &&
           files->status64.st_size == TFD_PROBE_FILE_BYTES;
}

static bool probe_lstat(struct probe_files *files)
{
    return call_lstat(files->path[0], &files->status) == 0 && files->status.st_size == TFD_PROBE_FILE_BYTES;
}

static bool probe_lstat64(struct probe_files *files)
{
    return call_lstat64(files->path[0], &files->status64) == 0 &&
           files->status64.st_size == TFD_PROBE_FILE_BYTES;
}

static bool probe_fstatat(struct probe_files *files)
{
    return call_fstatat(AT_FDCWD, files->path[0], &files->status, 0) == 0 &&
           files->status.st_size == TFD_PROBE_FILE_BYTES;
}

static bool probe_fstatat64(struct probe_files *files)
{
    return call_fstatat64(AT_FDCWD, files->path[0], &files->status64, 0) == 0 &&
           files->status64.st_size == TFD_PROBE_FILE_BYTES;
}

static bool probe_statx(struct probe_files *files)
{
    struct statx status;
    return call_statx(AT_FDCWD, files->path[0], 0, STATX_SIZE | STATX_TYPE, &status) == 0 &&
           status.stx_size == TFD_PROBE_FILE_BYTES;
}

static bool probe___xstat(struct probe_files *files)
{
    return call___xstat(STAT_VERSION, files->path[0], &files->status) == 0 &&
           files->status.st_size == TFD_PROBE_FILE_BYTES;
}

static bool probe___xstat64(struct probe_files *files)
{
    return call___xstat64(STAT_VERSION, files->path[0], &files->status64) == 0 &&
           files->status64.st_size == TFD_PROBE_FILE_BYTES;
}

static bool probe___lxstat(struct probe_files *files)
{
    return call___lxstat(STAT_VERSION, files->path[0], &files->status) == 0 &&
           files->status.st_size == TFD_PROBE_FILE_BYTES;
}

static bool probe___lxstat64(struct probe_files *files)
{
    return call___lxstat64(STAT_VERSION, files->path[0], &files->status64) == 0 &&
           files->status64.st_size == TFD_PROBE_FILE_BYTES;
}

static bool probe___fxstatat(struct probe_files *files)
{
    return call___fxstatat(STAT_VERSION, AT_FDCWD, files->path[0], &files->status, 0) == 0 &&
           files->status.st_size == TFD_PROBE_FILE_BYTES;
}

static bool probe___fxstatat64(struct probe_files *files)
{
    return call___fxstatat64(STAT_VERSION, AT_FDCWD, files->path[0], &files->status64, 0) == 0 &&
           files->status64.st_size == TFD_PROBE_FILE_BYTES;
}

static bool probe_fstat(struct probe_files *files)
{
    return call_fstat(files->fd[0], &files->status) == 0 && files->status.st_size == TFD_PROBE_FILE_BYTES;
}

static bool probe_fstat64(struct probe_files *files)
{
    return call_fstat64(files->fd[0], &files->status64) == 0 &&
           files->status64.st_size == TFD_PROBE_FILE_BYTES;
}

static bool probe___fxstat(struct probe_files *files)
{
    return call___fxstat(STAT_VERSION, files->fd[0], &files->status) == 0 &&
           files->status.st_size == TFD_PROBE_FILE_BYTES;
}

static bool probe___fxstat64(struct probe_files *files)
{
    return call___fxstat64(STAT_VERSION, files->fd[0], &files->status64) == 0 &&
           files->status64.st_size == TFD_PROBE_FILE_BYTES;
}

const struct probe tfd_path_probes[] = {
    {"rename", (void *)call_rename, probe_rename, {{"rename", TFD_PROBE_ANY, 0, 0}}},
    {"renameat", (void *)call_renameat, probe_renameat, {{"rename", TFD_PROBE_ANY, 0, 0}}},
    {"renameat2", (void *)call_renameat2, probe_renameat2, {{"rename", TFD_PROBE_ANY, 0, 0}}},
    {"unlink", (void *)call_unlink, probe_unlink, {{"unlink", -1, 0, 0}}},
    {"unlinkat", (void *)call_unlinkat, probe_unlinkat, {{"unlink", -1, 0, 0}}},
    {"remove", (void *)call_remove, probe_remove, {{"unlink", -1, 0, 0}}},
    {"truncate", (void *)call_truncate, probe_truncate, {{"truncate", -1, 1234, 0}}},
    {"truncate64", (void *)call_truncate64, probe_truncate64, {{"truncate", -1, 1234, 0}}},
    {"ftruncate", (void *)call_ftruncate, probe_ftruncate, {{"truncate", -1, 1234, 0}}},
    {"ftruncate64", (void *)call_ftruncate64, probe_ftruncate64, {{"truncate", -1, 1234, 0}}},
    {"stat", (void *)call_stat, probe_stat, {{"stat", -1, TFD_PROBE_FILE_BYTES, 0}}},
    {"stat64", (void *)call_stat64, probe_stat64, {{"stat", -1, TFD_PROBE_FILE_BYTES, 0}}},
    {"lstat", (void *)call_lstat, probe_lstat, {{"stat", -1, TFD_PROBE_FILE_BYTES, 0}}},
    {"lstat64", (void *)call_lstat64, probe_lstat64, {{"stat", -1, TFD_PROBE_FILE_BYTES, 0}}},
    {"fstatat", (void *)call_fstatat, probe_fstatat, {{"stat", -1, TFD_PROBE_FILE_BYTES, 0}}},
    {"fstatat64", (void *)call_fstatat64, probe_fstatat64, {{"stat", -1, TFD_PROBE_FILE_BYTES, 0}}},
    {"statx", (void *)call_statx, probe_statx, {{"stat", -1, TFD_PROBE_FILE_BYTES, 0}}},
    {"__xstat", (void *)call___xstat, probe___xstat, {{"stat", -1, TFD_PROBE_FILE_BYTES, 0}}},
    {"__xstat64", (void *)call___xstat64, probe___xstat64, {{"stat", -1, TFD_PROBE_FILE_BYTES, 0}}},
    {"__lxstat", (void *)call___lxstat, probe___lxstat, {{"stat", -1, TFD_PROBE_FILE_BYTES, 0}}},
    {"__lxstat64", (void *)call___lxstat64, probe___lxstat64, {{"stat", -1, TFD_PROBE_FILE_BYTES, 0}}},
    {"__fxstatat", (void *)call___fxstatat, probe___fxstatat, {{"stat", -1, TFD_PROBE_FILE_BYTES, 0}}},
    {"__fxstatat64", (void *)call___fxstatat64, probe___fxstatat64, {{"stat", -1, TFD_PROBE_FILE_BYTES, 0}}},
    {"fstat", (void *)call_fstat, probe_fstat, {{"fstat", -1, TFD_PROBE_FILE_BYTES, 0}}},
    {"fstat64", (void *)call_fstat64, probe_fstat64, {{"fstat", -1, TFD_PROBE_FILE_BYTES, 0}}},
    {"__fxstat", (void *)call___fxstat, probe___fxstat, {{"fstat", -1, TFD_PROBE_FILE_BYTES, 0}}},
    {"__fxstat64", (void *)call___fxstat64, probe___fxstat64, {{"fstat", -1, TFD_PROBE_FILE_BYTES, 0}}},
    {0},
};
