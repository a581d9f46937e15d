/* The chunks that threads write their events to. */
#ifndef TFD_THREAD_CHUNKS_H
#define TFD_THREAD_CHUNKS_H

#include <stdbool.h>

#include "spool/spool.h"

struct tfd_slot;

bool tfd_recorder_prepare_spool(struct tfd_spool *spool);
void tfd_chunks_reset_in_child(void);
/* Makes the thread's record in the session's spool; its chunk is full, so the first event asks for one. */
void tfd_chunks_begin(struct tfd_slot *slot, const char *name);
/* Gives the slot a chunk with room: a new one while the trace has room, then one of a few that are folded and used
 * again in turn. */
bool tfd_chunks_next(struct tfd_slot *slot);
/* For a thread that gets no chunk any more. */
void tfd_chunks_emit_shared(const struct tfd_event *event);

#endif
