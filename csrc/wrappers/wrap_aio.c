/* Wrappers of POSIX asynchronous I/O. A thread inside the C library makes the calls. A request is recorded when the job
 * learns of its end, with the result that the C library reports. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>

#include "base/clock.h"
#include "hooks/hook_table.h"
#include "recorder/pending_requests.h"
#include "recorder/recorder_calls.h"
#include "wrappers/wrappers.h"

/* Call this before the call, since the request may end, and its control block be freed, before the call returns. */
static void note(enum tfd_operation operation, const struct aiocb *request)
{
    struct tfd_async_request noted = {.operation = operation, .offset = -1, .fd = request->aio_fildes};
    noted.start = noted.last_seen = tfd_ticks();
    noted.asked = (int64_t)request->aio_nbytes;
    if (operation == TFD_OP_PREAD || operation == TFD_OP_PWRITE)
        noted.offset = request->aio_offset;
    noted.word = tfd_word_of_descriptor(request->aio_fildes);
    if (operation == TFD_OP_PWRITE && noted.word)
        tfd_request_appends(&noted);
    if (noted.word)
        tfd_pending_add(request, &noted);
}

/* Forget a refused request. The time of submitting it is part of the request. */
static int submitted(int status, const struct aiocb *request)
{
    struct tfd_async_request refused;
    if (status)
        tfd_pending_take(request, &refused);
    else
        tfd_pending_saw(request, tfd_ticks());
    return status;
}

/* Record a request if it has ended. `end`: when a call that waited for it returned, or 0. */
static void record_end(const struct aiocb *request, uint64_t end)
{
    struct tfd_async_request ended;
    int saved_errno = errno;
    if (!tfd_pending_has(request))
        return;
    int error = TFD_NEXT(aio_error)(request);
    if (error == EINPROGRESS) {
        tfd_pending_saw(request, tfd_ticks());
    } else if (tfd_pending_take(request, &ended)) {
        ssize_t moved = error ? -1 : request->__return_value;
        tfd_record_request(&ended, end ? end : ended.last_seen, moved, error);
    }
    errno = saved_errno;
}

static void look_at_all(struct aiocb *const list[], int count, uint64_t end)
{
    for (int i = 0; i < count; i++)
        record_end(list[i], end);
}

int tfd_wrap_aio_read(struct aiocb *request)
{
    note(TFD_OP_PREAD, request);
    return submitted(TFD_NEXT(aio_read)(request), request);
}

int tfd_wrap_aio_write(struct aiocb *request)
{
    note(TFD_OP_PWRITE, request);
    return submitted(TFD_NEXT(aio_write)(request), request);
}

int tfd_wrap_aio_fsync(int operation, struct aiocb *request)
{
    note(operation == O_DSYNC ? TFD_OP_FDATASYNC : TFD_OP_FSYNC, request);
    return submitted(TFD_NEXT(aio_fsync)(operation, request), request);
}

/* If one request is refused, others may have been accepted; aio_error() tells which. */
int tfd_wrap_lio_listio(int mode, struct aiocb *const list[], int count, struct sigevent *event)
{
    for (int i = 0; i < count; i++)
        if (list[i] && list[i]->aio_lio_opcode != LIO_NOP)
            note(list[i]->aio_lio_opcode == LIO_READ ? TFD_OP_PREAD : TFD_OP_PWRITE, list[i]);
    int status = TFD_NEXT(lio_listio)(mode, list, count, event);
    uint64_t end = tfd_ticks();
    for (int i = 0; i < count; i++)
        tfd_pending_saw(list[i], end);
    if (mode == LIO_WAIT || status)
        look_at_all(list, count, mode == LIO_WAIT ? end : 0);
    return status;
}

int tfd_wrap_aio_error(const struct aiocb *request)
{
    int error = TFD_NEXT(aio_error)(request);
    record_end(request, 0);
    return error;
}

/* The control block is the job's again after this call. */
ssize_t tfd_wrap_aio_return(struct aiocb *request)
{
    record_end(request, 0);
    return TFD_NEXT(aio_return)(request);
}

/* Requests that were under way when the wait began have ended while it lasted. */
int tfd_wrap_aio_suspend(const struct aiocb *const list[], int count, const struct timespec *timeout)
{
    look_at_all((struct aiocb *const *)list, count, 0);
    int status = TFD_NEXT(aio_suspend)(list, count, timeout);
    look_at_all((struct aiocb *const *)list, count, tfd_ticks());
    return status;
}
