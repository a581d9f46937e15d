/* A library that the job loads and unloads: its reads go through its own import table. */
#define _XOPEN_SOURCE 700
#include <sys/types.h>
#include <unistd.h>

ssize_t read_byte(int descriptor);

ssize_t read_byte(int descriptor)
{
    char byte;
    return pread(descriptor, &byte, 1, 0);
}
