/* The darshan engine's part in starting and stopping a session. */
#ifndef TFD_DARSHAN_ENGINE_H
#define TFD_DARSHAN_ENGINE_H

#include <stdint.h>

/* Before anything is attached: the wrappers' next functions become the guards, and the records are copied. */
int tfd_darshan_begin(uint32_t generation);
/* After the slots are undone, while the session still records. `keep` copies the records once more, and waits
 * until each call in the copy is an event too. */
void tfd_darshan_end(int keep);
/* When the session records no more. */
void tfd_darshan_detach(void);
void tfd_darshan_reset_in_child(void);

#endif
