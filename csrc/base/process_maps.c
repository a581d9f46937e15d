#define _GNU_SOURCE
#include "base/process_maps.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/kernel_io.h"

/* This reads as much at a time as the kernel allows, so that the lines are of one moment. */
char *tfd_process_maps_read(void)
{
    size_t size = 0, capacity = 1u << 20;
    char *text = malloc(capacity);
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    ssize_t got = -1;
    while (text && fd >= 0 && (got = read(fd, text + size, capacity - size - 1)) > 0) {
        size += (size_t)got;
        if (capacity - size < 8192) {
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
