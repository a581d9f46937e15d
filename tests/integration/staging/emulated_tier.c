/*
 * Preloaded: makes files below the folders of TIER_FOLDERS (separated by colons) as slow as TIER_MODEL says,
 * and then SCALE times slower.
 *
 * hdd     one head: a seek of 8 ms x n^-0.44 with n requests waiting, then 163 MB/s
 * lustre  2 ms for an open, 3 ms for a read and 1 GB/s, any number at a time
 * pipe    40 MB/s for all together, and nothing else
 * none    as it is
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { DESCRIPTORS = 65536, PATH_BYTES = 4096, SCALE = 5 };

static _Atomic char slow[DESCRIPTORS];
static _Atomic int waiting;
static pthread_mutex_t device = PTHREAD_MUTEX_INITIALIZER;

static void *next_of(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

static void sleep_for(double seconds)
{
    seconds *= SCALE;
    struct timespec left = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    while (nanosleep(&left, &left) && errno == EINTR) {
    }
}

static int is_model(const char *name)
{
    const char *model = getenv("TIER_MODEL");
    return model && !strcmp(model, name);
}

static int is_below(const char *path)
{
    const char *folder = getenv("TIER_FOLDERS");
    while (folder && *folder) {
        size_t length = strcspn(folder, ":");
        if (length && !strncmp(path, folder, length) && path[length] == '/') {
            return 1;
        }
        folder += length + (folder[length] == ':');
    }
    return 0;
}

static int opened(int fd)
{
    int saved = errno;
    if (fd >= 0 && fd < DESCRIPTORS) {
        char name[64], path[PATH_BYTES];
        snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
        ssize_t length = readlink(name, path, sizeof path - 1);
        path[length > 0 ? length : 0] = 0;
        slow[fd] = (char)is_below(path);
        if (slow[fd] && is_model("lustre")) {
            sleep_for(2e-3);
        }
    }
    errno = saved;
    return fd;
}

static ssize_t moved(int fd, ssize_t count)
{
    int saved = errno;
    if (count > 0 && fd >= 0 && fd < DESCRIPTORS && slow[fd]) {
        if (is_model("lustre")) {
            sleep_for(3e-3 + (double)count / 1e9);
        } else if (is_model("hdd") || is_model("pipe")) {
            int depth = ++waiting;
            pthread_mutex_lock(&device);
            double seek = is_model("hdd") ? 8e-3 * pow(depth, -0.44) : 0;
            sleep_for(seek + (double)count / (is_model("hdd") ? 163e6 : 40e6));
            pthread_mutex_unlock(&device);
            --waiting;
        }
    }
    errno = saved;
    return count;
}

#define MODE(flags, last)                                                                                    \
    mode_t mode = 0;                                                                                         \
    if ((flags) & (O_CREAT | O_TMPFILE)) {                                                                   \
        va_list list;                                                                                        \
        va_start(list, last);                                                                                \
        mode = va_arg(list, mode_t);                                                                         \
        va_end(list);                                                                                        \
    }

int open64(const char *path, int flags, ...)
{
    MODE(flags, flags)
    int (*next)(const char *, int, ...) = (int (*)(const char *, int, ...))next_of("open64");
    return opened(next(path, flags, mode));
}

int open(const char *path, int flags, ...)
{
    MODE(flags, flags)
    int (*next)(const char *, int, ...) = (int (*)(const char *, int, ...))next_of("open");
    return opened(next(path, flags, mode));
}

/* Its number may be a pipe's next. */
int close(int fd)
{
    int (*next)(int) = (int (*)(int))next_of("close");
    if (fd >= 0 && fd < DESCRIPTORS) {
        slow[fd] = 0;
    }
    return next(fd);
}

ssize_t read(int fd, void *buffer, size_t count)
{
    ssize_t (*next)(int, void *, size_t) = (ssize_t(*)(int, void *, size_t))next_of("read");
    return moved(fd, next(fd, buffer, count));
}

ssize_t preadv64v2(int fd, const struct iovec *parts, int count, off64_t offset, int flags)
{
    ssize_t (*next)(int, const struct iovec *, int, off64_t, int) =
        (ssize_t(*)(int, const struct iovec *, int, off64_t, int))next_of("preadv64v2");
    return moved(fd, next(fd, parts, count, offset, flags));
}

ssize_t preadv64(int fd, const struct iovec *parts, int count, off64_t offset)
{
    ssize_t (*next)(int, const struct iovec *, int, off64_t) =
        (ssize_t(*)(int, const struct iovec *, int, off64_t))next_of("preadv64");
    return moved(fd, next(fd, parts, count, offset));
}
