/* Begins and ends one process's recording. */
#ifndef TFD_RECORDING_H
#define TFD_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

#include "spool/spool.h"

/* Call this once per process, after the clocks were initialised. */
void tfd_recording_calibrate(void);
/* Make the session's spool of this process; return 0 or -errno. `parent_pid` is 0 in the session's owner. */
int tfd_recording_make_spool(int32_t parent_pid);
/* Remove the spool of a process that came too late for the session. */
void tfd_recording_drop_late_spool(void);
/* Write events from now on. */
void tfd_recording_begin(void);
/* Note the opens of threads that did not wait until this process had joined. */
void tfd_recording_tell_missed_opens(struct tfd_spool_header *header);
void tfd_recording_take_closing_snapshots(struct tfd_spool_header *header);
/* Return false in a child that was made without fork handlers, where the spool is not mapped. */
bool tfd_is_recording_here(void);
/* Start recording in a forked child, at its first call; return false if it is not recorded. */
bool tfd_child_begin(void);
/* Set functions to call once a child has begun, and before this process ends with the session. */
void tfd_recording_tell(void (*child_begun)(void), void (*ending)(void));
/* End recording without restoring the slots, because the session's owner asked for it. */
void tfd_abandon(void);
/* Give back the room that this process has not used, as it is about to become another program, and take it again if it
 * did not. */
void tfd_before_exec(void);
void tfd_after_failed_exec(void);
/* Take the closing snapshots of a process that ends now: it runs no exit handlers, and records nothing more. */
void tfd_before_end(void);

#endif
