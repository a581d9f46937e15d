/* Requests of asynchronous I/O that are under way, by the address of their control block.
 *
 * The C library's thread tells nobody when a request ends. Known are when the job submitted it, when it was last
 * seen under way, and when a call that had waited for it returned. A request lasts from the first to the last of
 * these times, and is recorded when the job learns that it has ended. A job that asks late does not make it longer. */
#ifndef TFD_PENDING_REQUESTS_H
#define TFD_PENDING_REQUESTS_H

#include <stdbool.h>
#include <stdint.h>

#include "spool/event.h"

struct tfd_async_request {
    uint64_t word; /* of the descriptor at the submission: it may be closed by the end */
    uint64_t start, last_seen;
    int64_t offset, asked; /* bytes */
    int fd;
    enum tfd_operation operation;
};

/* Add a request. Safe in signal handlers, like aio_error and aio_return. Without room a request is not recorded. */
void tfd_pending_add(const void *block, const struct tfd_async_request *request);
void tfd_pending_saw(const void *block, uint64_t ticks);
/* Remove the request of a control block; return false if there is none. The caller that gets it records it. */
bool tfd_pending_take(const void *block, struct tfd_async_request *request);
bool tfd_pending_has(const void *block);

#endif
