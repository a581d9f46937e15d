#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef long read_file_function(const char *path);

static long read_file(const char *path)
{
    char block[4096];
    long total = 0, got;
    int fd = open(path, O_RDONLY);
    while ((got = read(fd, block, sizeof block)) > 0)
        total += got;
    close(fd);
    return total;
}

/* Nothing is exported: the program says where it wants to find the function. */
__attribute__((constructor)) static void hand_over(void)
{
    void *place = NULL;
    const char *wanted = getenv("HIDDEN_LIBRARY_PLACE");
    if (wanted && sscanf(wanted, "%p", &place) == 1)
        *(read_file_function **)place = read_file;
}
