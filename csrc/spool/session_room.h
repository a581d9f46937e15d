/* Holds the memory cap, and the trace's part of it, for all processes of a session together: what they use is
 * counted in the spool of the session's owner. */
#ifndef TFD_SESSION_ROOM_H
#define TFD_SESSION_ROOM_H

#include <stdbool.h>
#include <stdint.h>

#include "spool/spool.h"

/* Of the cap, and of the trace, each process has at least so much though the others have used all of it. */
#define TFD_LEAST_SPOOL_BYTES (1u << 20)
#define TFD_LEAST_TRACE_BYTES (64u << 10)

/* Finds the count: in the process's own spool, or mapped from that of the owner. Without an owner's spool a
 * process has the caps for itself. */
void tfd_session_room_find(struct tfd_spool *spool, const char *directory, int32_t owner_pid);
/* Before the own spool is unmapped. */
void tfd_session_room_leave(void);
/* Counts what of this process's spool lies below `end`; false where all processes would use more than the cap. */
bool tfd_session_room_claim(uint64_t end);
/* Counts bytes of segments that are kept, likewise. */
bool tfd_session_trace_claim(uint64_t bytes);
/* Bytes of segments that this process keeps, and how many more all processes may. */
uint64_t tfd_session_trace_claimed(void);
uint64_t tfd_session_trace_left(void);

#endif
