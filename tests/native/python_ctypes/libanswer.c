/* Reads a file for a Python test that loads it while a session records. */
#include <fcntl.h>
#include <unistd.h>

long answer(const char *path);
long answer(const char *path)
{
    char buffer[1000];
    int fd = open(path, O_RDONLY);
    long got = fd < 0 ? -1 : read(fd, buffer, sizeof buffer);
    return fd < 0 || close(fd) ? -1 : got;
}
