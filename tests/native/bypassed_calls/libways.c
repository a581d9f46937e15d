/* Opens a way around the C library by one of several calls. */
#include <stddef.h>

int io_queue_init(int requests, void **context);
int io_uring_queue_init(unsigned entries, void *ring, unsigned flags);
int io_uring_queue_init_params(unsigned entries, void *ring, void *parameters);
int io_uring_queue_init_mem(unsigned entries, void *ring, void *parameters, void *memory, size_t bytes);

int open_way(int which, int entries);
int open_way(int which, int entries)
{
    switch (which) {
    case 0:
        return io_queue_init(entries, (void **)2);
    case 1:
        return io_uring_queue_init((unsigned)entries, (void *)2, 3);
    case 2:
        return io_uring_queue_init_params((unsigned)entries, (void *)2, (void *)3);
    default:
        return io_uring_queue_init_mem((unsigned)entries, (void *)2, (void *)3, (void *)4, 5);
    }
}
