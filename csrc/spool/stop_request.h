/* How the owner of a session tells its living children that the session is over. */
#ifndef TFD_STOP_REQUEST_H
#define TFD_STOP_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "spool/spool.h"

/* Asks every process but `own_pid` that records into `directory` to stop. They see it when they next open a
 * file or fill a block of events. What cannot be asked is passed over. */
void tfd_request_stop(const char *directory, int32_t own_pid);
/* Maps the head of a spool, shared with its process; NULL where that is no spool. */
struct tfd_spool_header *tfd_spool_header_map(int folder, const char *name);
/* True where process `pid` no longer records into `directory`. */
bool tfd_has_stopped(const char *directory, int32_t pid);

#endif
