#define _GNU_SOURCE
#include "base/whole_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/kernel_io.h"

char *tfd_read_whole(const char *path)
{
    size_t size = 0, capacity = 1u << 16;
    char *buffer = malloc(capacity);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    while (buffer && fd >= 0) {
        ssize_t got = read(fd, buffer + size, capacity - size - 1);
        if (got <= 0)
            break;
        size += (size_t)got;
        tfd_kernel_io_exclude(got);
        if (capacity - size < 4096)
            buffer = realloc(buffer, capacity *= 2);
    }
    if (fd >= 0)
        close(fd);
    if (buffer)
        buffer[size] = '\0';
    return buffer;
}
