#define _GNU_SOURCE
#include "base/whole_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/kernel_io.h"

#define LEAST_ROOM 8192 /* bytes of a read: the kernel gives a page of /proc/self/maps at a time */

char *tfd_read_whole(const char *path)
{
    size_t size = 0, capacity = 1u << 16;
    char *text = malloc(capacity);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = -1;
    while (text && fd >= 0 && (got = read(fd, text + size, capacity - size)) > 0) {
        size += (size_t)got;
        if (capacity - size < LEAST_ROOM) {
            char *larger = realloc(text, capacity *= 2);
            if (!larger)
                break;
            text = larger;
        }
    }
    if (fd >= 0)
        close(fd);
    tfd_kernel_io_exclude((int64_t)size);
    if (text && got == 0) {
        text[size] = '\0';
        return text;
    }
    free(text);
    return NULL;
}
