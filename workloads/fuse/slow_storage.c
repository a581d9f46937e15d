/* A file system that passes everything through to a folder, and takes the time of a described device for it.
 *
 *     slow_storage BACKING "read_s=0.003 bandwidth=3e7" MOUNT_POINT
 *
 * It stays in the foreground, says "mounted" on stdout, and ends with SIGTERM or when it is unmounted. Calls
 * take no time before SIGUSR1: until then caches can be filled. */
#define _GNU_SOURCE
#define FUSE_USE_VERSION 31
#include <fuse.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "device.h"

static int root;

/* The path below the backing folder: what openat() and its like want. */
static const char *below(const char *path)
{
    return path[1] ? path + 1 : ".";
}

static int given(int result)
{
    return result < 0 ? -errno : result;
}

static void pass(enum request_kind kind, const char *path)
{
    struct request request = {.kind = kind, .path = path};
    device_pass(&request);
}

static uint64_t number_of(int fd)
{
    struct stat found;
    return fstat(fd, &found) ? 0 : (uint64_t)found.st_ino;
}

static void *slow_init(struct fuse_conn_info *connection, struct fuse_config *config)
{
    connection->max_background = 64;
    config->use_ino = 1;
    config->nullpath_ok = 0;
    if (!device_keeps_names())
        config->entry_timeout = config->attr_timeout = config->negative_timeout = 0;
    puts("mounted");
    fflush(stdout);
    return NULL;
}

static int slow_getattr(const char *path, struct stat *found, struct fuse_file_info *info)
{
    int result = info ? fstat((int)info->fh, found) : fstatat(root, below(path), found, AT_SYMLINK_NOFOLLOW);
    if (!info && !result && S_ISREG(found->st_mode))
        pass(REQUEST_STAT, path);
    return given(result);
}

/* The kernel goes past its cache with O_DIRECT by itself; the backing file would want aligned buffers for it. */
static int backing_flags(const struct fuse_file_info *info)
{
    return info->flags & ~(O_NOFOLLOW | O_DIRECT);
}

static int slow_open(const char *path, struct fuse_file_info *info)
{
    if (info->flags & O_DIRECT && device_refuses_direct())
        return -EINVAL;
    int fd = openat(root, below(path), backing_flags(info));
    if (fd < 0)
        return -errno;
    pass(REQUEST_OPEN, path);
    info->fh = (uint64_t)fd;
    info->direct_io = !device_keeps_pages();
    info->keep_cache = device_keeps_pages();
    return 0;
}

static int slow_create(const char *path, mode_t mode, struct fuse_file_info *info)
{
    int fd = openat(root, below(path), backing_flags(info) | O_CREAT, mode);
    if (fd < 0)
        return -errno;
    pass(REQUEST_OPEN, path);
    info->fh = (uint64_t)fd;
    info->direct_io = !device_keeps_pages();
    return 0;
}

static int slow_read(const char *path, char *buffer, size_t size, off_t offset, struct fuse_file_info *info)
{
    ssize_t length = pread((int)info->fh, buffer, size, offset);
    if (length < 0)
        return -errno;
    struct request request = {.kind = REQUEST_EMPTY_READ, .path = path};
    if (length) {
        request.kind = REQUEST_READ;
        request.file = number_of((int)info->fh);
        request.offset = offset;
        request.bytes = device_missing(request.file, offset, (size_t)length);
    }
    if (!length || request.bytes)
        device_pass(&request);
    return (int)length;
}

static int slow_write(const char *path, const char *buffer, size_t size, off_t offset,
                      struct fuse_file_info *info)
{
    ssize_t length = pwrite((int)info->fh, buffer, size, offset);
    if (length < 0)
        return -errno;
    struct request request = {.kind = REQUEST_WRITE,
                              .path = path,
                              .file = number_of((int)info->fh),
                              .offset = offset,
                              .bytes = (size_t)length};
    device_pass(&request);
    return (int)length;
}

/* The bytes are in the backing folder's page cache: what a sync takes is the model's alone. */
static int slow_fsync(const char *path, int data_only, struct fuse_file_info *info)
{
    (void)data_only, (void)info;
    pass(REQUEST_SYNC, path);
    return 0;
}

static int slow_release(const char *path, struct fuse_file_info *info)
{
    (void)path;
    return given(close((int)info->fh));
}

static int slow_readdir(const char *path, void *buffer, fuse_fill_dir_t fill, off_t offset,
                        struct fuse_file_info *info, enum fuse_readdir_flags flags)
{
    (void)offset, (void)info, (void)flags;
    int fd = openat(root, below(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    if (!folder)
        return -errno;
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        struct stat kind = {.st_ino = entry->d_ino, .st_mode = (mode_t)(entry->d_type << 12)};
        if (fill(buffer, entry->d_name, &kind, 0, 0))
            break;
    }
    closedir(folder);
    return 0;
}

static int slow_truncate(const char *path, off_t size, struct fuse_file_info *info)
{
    if (info)
        return given(ftruncate((int)info->fh, size));
    int fd = openat(root, below(path), O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int result = given(ftruncate(fd, size));
    close(fd);
    return result;
}

static int slow_mkdir(const char *path, mode_t mode)
{
    return given(mkdirat(root, below(path), mode));
}

static int slow_unlink(const char *path)
{
    return given(unlinkat(root, below(path), 0));
}

static int slow_rmdir(const char *path)
{
    return given(unlinkat(root, below(path), AT_REMOVEDIR));
}

static int slow_rename(const char *from, const char *to, unsigned flags)
{
    return given(renameat2(root, below(from), root, below(to), flags));
}

static int slow_chmod(const char *path, mode_t mode, struct fuse_file_info *info)
{
    (void)info;
    return given(fchmodat(root, below(path), mode, 0));
}

static int slow_utimens(const char *path, const struct timespec times[2], struct fuse_file_info *info)
{
    (void)info;
    return given(utimensat(root, below(path), times, AT_SYMLINK_NOFOLLOW));
}

static int slow_statfs(const char *path, struct statvfs *found)
{
    (void)path;
    return given(fstatvfs(root, found));
}

static const struct fuse_operations operations = {
    .init = slow_init,
    .getattr = slow_getattr,
    .open = slow_open,
    .create = slow_create,
    .read = slow_read,
    .write = slow_write,
    .fsync = slow_fsync,
    .release = slow_release,
    .readdir = slow_readdir,
    .truncate = slow_truncate,
    .mkdir = slow_mkdir,
    .unlink = slow_unlink,
    .rmdir = slow_rmdir,
    .rename = slow_rename,
    .chmod = slow_chmod,
    .utimens = slow_utimens,
    .statfs = slow_statfs,
};

/* Whoever sent the signal sees in /proc that it is ignored from now on. */
static void begin(int number)
{
    device_begin();
    signal(number, SIG_IGN);
}

int main(int count, char **arguments)
{
    if (count != 4) {
        fprintf(stderr, "usage: slow_storage BACKING MODEL MOUNT_POINT\n");
        return 2;
    }
    root = open(arguments[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root < 0) {
        fprintf(stderr, "slow_storage: %s: %s\n", arguments[1], strerror(errno));
        return 1;
    }
    if (!device_describe(arguments[2]))
        return 2;
    /* Nobody would unmount it after its parent. */
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    signal(SIGUSR1, begin);
    char *fuse_arguments[] = {
        arguments[0], arguments[3], "-f", "-o", "allow_other,max_threads=64,max_idle_threads=64", NULL};
    return fuse_main(5, fuse_arguments, &operations, NULL);
}
