/* Preloaded: stands before the C library's read(). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>

extern int interposed_reads;
int interposed_reads;

ssize_t read(int fd, void *buffer, size_t count)
{
    union {
        void *object;
        ssize_t (*function)(int, void *, size_t);
    } next = {dlsym(RTLD_NEXT, "read")};
    __atomic_fetch_add(&interposed_reads, 1, __ATOMIC_RELAXED);
    return next.function(fd, buffer, count);
}
