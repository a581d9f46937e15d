/* Calls that make and free descriptors. */
#define _GNU_SOURCE
#include "probe/probe_files.h"

#include <string.h>

#define SUFFIX_BYTES 4

static bool made(struct probe_files *files, int fd)
{
    files->made_fd = fd;
    return fd >= 0;
}

static char *with_suffix(struct probe_files *files)
{
    return strcat(files->template, ".tmp");
}

/* The call has replaced the template by the file's name. */
static bool made_from_template(struct probe_files *files, int fd, int suffix_bytes)
{
    size_t length = strlen(files->template) - (size_t)suffix_bytes;
    strcpy(files->path[2], files->template);
    return made(files, fd) && strncmp(files->template + length - 6, "XXXXXX", 6);
}

static bool probe_open(struct probe_files *files)
{
    return made(files, call_open(files->path[2], O_CREAT | O_EXCL | O_RDWR, TFD_PROBE_MODE));
}

static bool probe_open64(struct probe_files *files)
{
    return made(files, call_open64(files->path[2], O_CREAT | O_EXCL | O_RDWR, TFD_PROBE_MODE));
}

static bool probe___open_2(struct probe_files *files)
{
    return made(files, call___open_2(files->path[0], O_RDONLY));
}

static bool probe___open64_2(struct probe_files *files)
{
    return made(files, call___open64_2(files->path[0], O_RDONLY));
}

static bool probe_openat(struct probe_files *files)
{
    return made(files, call_openat(AT_FDCWD, files->path[2], O_CREAT | O_RDWR, TFD_PROBE_MODE));
}

static bool probe_openat64(struct probe_files *files)
{
    return made(files, call_openat64(AT_FDCWD, files->path[2], O_CREAT | O_RDWR, TFD_PROBE_MODE));
}

static bool probe___openat_2(struct probe_files *files)
{
    return made(files, call___openat_2(AT_FDCWD, files->path[0], O_RDONLY));
}

static bool probe___openat64_2(struct probe_files *files)
{
    return made(files, call___openat64_2(AT_FDCWD, files->path[0], O_RDONLY));
}

static bool probe_openat2(struct probe_files *files)
{
    struct open_how how = {.flags = O_RDWR | O_CREAT | O_CLOEXEC, .mode = TFD_PROBE_MODE};
    files->made_fd = call_openat2(AT_FDCWD, files->path[2], &how, sizeof how);
    return files->made_fd >= 0;
}

static bool probe_creat(struct probe_files *files)
{
    return made(files, call_creat(files->path[2], TFD_PROBE_MODE));
}

static bool probe_creat64(struct probe_files *files)
{
    return made(files, call_creat64(files->path[2], TFD_PROBE_MODE));
}

static bool probe_mkstemp(struct probe_files *files)
{
    return made_from_template(files, call_mkstemp(files->template), 0);
}

static bool probe_mkstemp64(struct probe_files *files)
{
    return made_from_template(files, call_mkstemp64(files->template), 0);
}

static bool probe_mkostemp(struct probe_files *files)
{
    return made_from_template(files, call_mkostemp(files->template, O_CLOEXEC), 0);
}

static bool probe_mkostemp64(struct probe_files *files)
{
    return made_from_template(files, call_mkostemp64(files->template, O_CLOEXEC), 0);
}

static bool probe_mkstemps(struct probe_files *files)
{
    return made_from_template(files, call_mkstemps(with_suffix(files), SUFFIX_BYTES), SUFFIX_BYTES);
}

static bool probe_mkstemps64(struct probe_files *files)
{
    return made_from_template(files, call_mkstemps64(with_suffix(files), SUFFIX_BYTES), SUFFIX_BYTES);
}

static bool probe_mkostemps(struct probe_files *files)
{
    return made_from_template(files, call_mkostemps(with_suffix(files), SUFFIX_BYTES, O_CLOEXEC),
                              SUFFIX_BYTES);
}

static bool probe_mkostemps64(struct probe_files *files)
{
    return made_from_template(files, call_mkostemps64(with_suffix(files), SUFFIX_BYTES, O_CLOEXEC),
                              SUFFIX_BYTES);
}

static bool probe_close(struct probe_files *files)
{
    return call_close(tfd_probe_take(&files->fd[0])) == 0;
}

static bool probe_close_range(struct probe_files *files)
{
    unsigned fd = (unsigned)tfd_probe_take(&files->fd[0]);
    return call_close_range(fd, fd, 0) == 0;
}

static bool probe_closefrom(struct probe_files *files)
{
    if (files->high_fd < 0)
        return false;
    call_closefrom(tfd_probe_take(&files->high_fd));
    return true;
}

static bool probe_closedir(struct probe_files *files)
{
    DIR *folder = files->folder;
    files->folder = NULL;
    return call_closedir(folder) == 0;
}

static bool probe_dup(struct probe_files *files)
{
    return made(files, call_dup(files->fd[0]));
}

static bool probe_dup2(struct probe_files *files)
{
    return call_dup2(files->fd[0], files->fd[1]) == files->fd[1];
}

static bool probe_dup3(struct probe_files *files)
{
    return call_dup3(files->fd[0], files->fd[1], O_CLOEXEC) == files->fd[1];
}

static bool probe_fcntl(struct probe_files *files)
{
    return made(files, call_fcntl(files->fd[0], F_DUPFD_CLOEXEC, 3));
}

static bool probe_fcntl64(struct probe_files *files)
{
    return made(files, call_fcntl64(files->fd[0], F_DUPFD_CLOEXEC, 3));
}

const struct probe tfd_open_probes[] = {
    {"open", (void *)call_open, probe_open, {{"open", TFD_PROBE_MODE, 0, 2}}},
    {"open64", (void *)call_open64, probe_open64, {{"open", TFD_PROBE_MODE, 0, 2}}},
    {"__open_2", (void *)call___open_2, probe___open_2, {{"open", 0, 0, 0}}},
    {"__open64_2", (void *)call___open64_2, probe___open64_2, {{"open", 0, 0, 0}}},
    {"openat", (void *)call_openat, probe_openat, {{"open", TFD_PROBE_MODE, 0, 2}}},
    {"openat64", (void *)call_openat64, probe_openat64, {{"open", TFD_PROBE_MODE, 0, 2}}},
    {"__openat_2", (void *)call___openat_2, probe___openat_2, {{"open", 0, 0, 0}}},
    {"__openat64_2", (void *)call___openat64_2, probe___openat64_2, {{"open", 0, 0, 0}}},
    {"openat2", (void *)call_openat2, probe_openat2, {{"open", TFD_PROBE_MODE, 0, 2}}},
    {"creat", (void *)call_creat, probe_creat, {{"open", TFD_PROBE_MODE, 0, 2}}},
    {"creat64", (void *)call_creat64, probe_creat64, {{"open", TFD_PROBE_MODE, 0, 2}}},
    {"mkstemp", (void *)call_mkstemp, probe_mkstemp, {{"open", 0, 0, 2}}},
    {"mkstemp64", (void *)call_mkstemp64, probe_mkstemp64, {{"open", 0, 0, 2}}},
    {"mkostemp", (void *)call_mkostemp, probe_mkostemp, {{"open", 0, 0, 2}}},
    {"mkostemp64", (void *)call_mkostemp64, probe_mkostemp64, {{"open", 0, 0, 2}}},
    {"mkstemps", (void *)call_mkstemps, probe_mkstemps, {{"open", 0, 0, 2}}},
    {"mkstemps64", (void *)call_mkstemps64, probe_mkstemps64, {{"open", 0, 0, 2}}},
    {"mkostemps", (void *)call_mkostemps, probe_mkostemps, {{"open", 0, 0, 2}}},
    {"mkostemps64", (void *)call_mkostemps64, probe_mkostemps64, {{"open", 0, 0, 2}}},
    {"close", (void *)call_close, probe_close, {{"close", -1, 0, 0}}},
    {"close_range", (void *)call_close_range, probe_close_range, {{0}}},
    {"closefrom", (void *)call_closefrom, probe_closefrom, {{0}}},
    {"closedir", (void *)call_closedir, probe_closedir, {{0}}},
    {"dup", (void *)call_dup, probe_dup, {{"dup", -1, 0, 0}}},
    {"dup2", (void *)call_dup2, probe_dup2, {{"dup", -1, 0, 0}}},
    {"dup3", (void *)call_dup3, probe_dup3, {{"dup", -1, 0, 0}}},
    {"fcntl", (void *)call_fcntl, probe_fcntl, {{"dup", -1, 0, 0}}},
    {"fcntl64", (void *)call_fcntl64, probe_fcntl64, {{"dup", -1, 0, 0}}},
    {0},
};
