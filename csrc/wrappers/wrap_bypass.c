/* Wrappers of the calls of libaio and liburing that open a way around the C library. The reads and writes themselves
 * have no wrapper. */
#define _GNU_SOURCE
#include "hooks/hook_table.h"
#include "recorder/recorder_calls.h"
#include "tfdarshan.h"
#include "wrappers/wrappers.h"

static int noted(enum tfd_bypass bypass, int status)
{
    if (status >= 0)
        tfd_record_bypass(bypass);
    return status;
}

int tfd_wrap_io_setup(int requests, void **context)
{
    return noted(TFD_BYPASS_AIO, TFD_NEXT(io_setup)(requests, context));
}

int tfd_wrap_io_queue_init(int requests, void **context)
{
    return noted(TFD_BYPASS_AIO, TFD_NEXT(io_queue_init)(requests, context));
}

int tfd_wrap_io_uring_queue_init(unsigned entries, void *ring, unsigned flags)
{
    return noted(TFD_BYPASS_IO_URING, TFD_NEXT(io_uring_queue_init)(entries, ring, flags));
}

int tfd_wrap_io_uring_queue_init_params(unsigned entries, void *ring, void *parameters)
{
    return noted(TFD_BYPASS_IO_URING, TFD_NEXT(io_uring_queue_init_params)(entries, ring, parameters));
}

int tfd_wrap_io_uring_queue_init_mem(unsigned entries, void *ring, void *parameters, void *memory,
                                     size_t bytes)
{
    return noted(TFD_BYPASS_IO_URING,
                 TFD_NEXT(io_uring_queue_init_mem)(entries, ring, parameters, memory, bytes));
}
