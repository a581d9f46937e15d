/* Requests of asynchronous I/O that are under way, by the address of their control block.
 *
 * When the C library's thread ends one nobody is told. What is known is when the job handed it in, when it was last
 * seen under way, and when a call returned that had waited for it: a request lasts from the first to the last of these,
 * and is recorded when the job learns that it has ended. A job that asks late does not make it longer. */
#ifndef TFD_PENDING_REQUESTS_H
#define TFD_PENDING_REQUESTS_H

#include <stdbool.h>
#include <stdint.h>

#include "spool/event.h"

struct tfd_async_request {
    uint64_t word; /* of the descriptor, when it was asked for: it may be closed by the end */
    uint64_t start, last_seen;
    int64_t offset, asked; /* bytes */
    int fd;
    enum tfd_operation operation;
};

/* Safe in signal handlers, as aio_error and aio_return are. A request that finds no room is not recorded. */
void tfd_pending_add(const void *block, const struct tfd_async_request *request);
void tfd_pending_saw(const void *block, uint64_t ticks);
/* False: none of that control block. Who gets it records it. */
bool tfd_pending_take(const void *block, struct tfd_async_request *request);
bool tfd_pending_has(const void *block);

#endif
