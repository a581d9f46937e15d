/* Begins and ends one process's recording. */
#ifndef TFD_RECORDING_H
#define TFD_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

#include "spool/spool.h"

/* Once per process, after the clocks are known. */
void tfd_recording_calibrate(void);
/* Makes the spool of the session; `parent_pid` 0: in its owner. 0 or -errno. */
int tfd_recording_make_spool(int32_t parent_pid);
/* Removes the spool of a process that was too late for the session. */
void tfd_recording_drop_late_spool(void);
/* From here on events are written. */
void tfd_recording_begin(void);
/* Of threads that did not wait until this process had joined. */
void tfd_recording_tell_missed_opens(struct tfd_spool_header *header);
void tfd_recording_take_closing_snapshots(struct tfd_spool_header *header);
/* False in a child made without fork handlers: the spool is not mapped there. */
bool tfd_is_recording_here(void);
/* Starts recording in a forked child, at its first call. */
bool tfd_child_begin(void);
/* What is to be done once a child has begun, and before this process ends with the session. */
void tfd_recording_tell(void (*child_begun)(void), void (*ending)(void));
/* Ends recording without undoing the slots: the session's owner asked for it. */
void tfd_abandon(void);
/* Takes the closing snapshots of a process about to end. */
void tfd_before_exit(void);

#endif
