/* Requests of asynchronous I/O. */
#define _GNU_SOURCE
#include "probe/probe_files.h"

#include <errno.h>

static struct aiocb request_of(struct probe_files *files)
{
    return (struct aiocb){.aio_fildes = files->fd[0],
                          .aio_buf = files->buffer,
                          .aio_nbytes = TFD_PROBE_TRANSFER_BYTES,
                          .aio_offset = 7,
                          .aio_sigevent.sigev_notify = SIGEV_NONE};
}

static ssize_t ended(struct aiocb *request)
{
    const struct aiocb *list[] = {request};
    while (call_aio_error(request) == EINPROGRESS)
        call_aio_suspend(list, 1, NULL);
    return call_aio_return(request);
}

static bool probe_aio_read(struct probe_files *files)
{
    struct aiocb request = request_of(files);
    return !call_aio_read(&request) && ended(&request) == TFD_PROBE_TRANSFER_BYTES;
}

static bool probe_aio_write(struct probe_files *files)
{
    struct aiocb request = request_of(files);
    return !call_aio_write(&request) && ended(&request) == TFD_PROBE_TRANSFER_BYTES;
}

static bool probe_aio_fsync(struct probe_files *files)
{
    struct aiocb request = request_of(files);
    return !call_aio_fsync(O_SYNC, &request) && ended(&request) == 0;
}

static bool probe_lio_listio(struct probe_files *files)
{
    struct aiocb request = request_of(files), *list[] = {&request};
    request.aio_lio_opcode = LIO_WRITE;
    return !call_lio_listio(LIO_WAIT, list, 1, NULL) && request.__return_value == TFD_PROBE_TRANSFER_BYTES;
}

static bool probe_aio_error(struct probe_files *files)
{
    struct aiocb request = request_of(files);
    if (call_aio_read(&request))
        return false;
    while (call_aio_error(&request) == EINPROGRESS)
        ;
    return call_aio_error(&request) == 0;
}

static bool probe_aio_return(struct probe_files *files)
{
    struct aiocb request = request_of(files);
    return !call_aio_read(&request) && ended(&request) == TFD_PROBE_TRANSFER_BYTES;
}

static bool probe_aio_suspend(struct probe_files *files)
{
    struct aiocb request = request_of(files);
    const struct aiocb *list[] = {&request};
    return !call_aio_read(&request) && !call_aio_suspend(list, 1, NULL);
}

const struct probe tfd_aio_probes[] = {
    {"aio_read", (void *)call_aio_read, probe_aio_read, {{"pread", 7, TFD_PROBE_TRANSFER_BYTES, 0}}},
    {"aio_write", (void *)call_aio_write, probe_aio_write, {{"pwrite", 7, TFD_PROBE_TRANSFER_BYTES, 0}}},
    {"aio_fsync", (void *)call_aio_fsync, probe_aio_fsync, {{"fsync", -1, 0, 0}}},
    {"lio_listio", (void *)call_lio_listio, probe_lio_listio, {{"pwrite", 7, TFD_PROBE_TRANSFER_BYTES, 0}}},
    {"aio_error", (void *)call_aio_error, probe_aio_error, {{"pread", 7, TFD_PROBE_TRANSFER_BYTES, 0}}},
    {"aio_return", (void *)call_aio_return, probe_aio_return, {{"pread", 7, TFD_PROBE_TRANSFER_BYTES, 0}}},
    {"aio_suspend", (void *)call_aio_suspend, probe_aio_suspend, {{"pread", 7, TFD_PROBE_TRANSFER_BYTES, 0}}},
    /* No C library has these. */
    {.symbol = "io_setup"},
    {.symbol = "io_queue_init"},
    {.symbol = "io_uring_queue_init"},
    {.symbol = "io_uring_queue_init_params"},
    {.symbol = "io_uring_queue_init_mem"},
    {0},
};
