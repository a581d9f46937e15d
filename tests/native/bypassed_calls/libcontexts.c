/* Defines functions of libaio and liburing, which no other object of the program does. */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

int io_setup(int requests, void **context);
int io_setup(int requests, void **context)
{
    return (int)syscall(SYS_io_setup, requests, context);
}

/* The others succeed if they are given what libways.c gives them. */
int io_queue_init(int requests, void **context);
int io_queue_init(int requests, void **context)
{
    return requests == 1 && context == (void **)2 ? 0 : -1;
}

int io_uring_queue_init(unsigned entries, void *ring, unsigned flags);
int io_uring_queue_init(unsigned entries, void *ring, unsigned flags)
{
    return entries == 1 && ring == (void *)2 && flags == 3 ? 0 : -1;
}

int io_uring_queue_init_params(unsigned entries, void *ring, void *parameters);
int io_uring_queue_init_params(unsigned entries, void *ring, void *parameters)
{
    return entries == 1 && ring == (void *)2 && parameters == (void *)3 ? 0 : -1;
}

int io_uring_queue_init_mem(unsigned entries, void *ring, void *parameters, void *memory, size_t bytes);
int io_uring_queue_init_mem(unsigned entries, void *ring, void *parameters, void *memory, size_t bytes)
{
    bool good = entries == 1 && ring == (void *)2 && parameters == (void *)3;
    return good && memory == (void *)4 && bytes == 5 ? 4096 : -1;
}
