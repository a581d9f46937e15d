/* How a session's owner tells living children that the session is over. */
#ifndef TFD_STOP_REQUEST_H
#define TFD_STOP_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "spool/spool.h"

/* Ask every process but `own_pid` that records into `directory` to stop. A process sees that when it next opens a file
 * or fills a block of events. A spool that cannot be mapped is skipped. */
void tfd_request_stop(const char *directory, int32_t own_pid);
/* Map the head of a spool, shared with its process; return NULL if it is not a spool. */
struct tfd_spool_header *tfd_spool_header_map(int folder, const char *name);
/* Return true if process `pid` does not record into `directory` any more. */
bool tfd_has_stopped(const char *directory, int32_t pid);

#endif
