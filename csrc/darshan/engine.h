/* The darshan engine's part in starting and stopping a session. */
#ifndef TFD_DARSHAN_ENGINE_H
#define TFD_DARSHAN_ENGINE_H

#include <stdint.h>

/* Make the guards the wrappers' next functions, and copy the records; return 0 or -errno. Call this before slots are
 * patched. */
int tfd_darshan_begin(uint32_t generation);
/* Undo that after the slots are restored, while the session still records. `keep`: copy the records again, and wait
 * until each call in the copy is an event too. */
void tfd_darshan_end(int keep);
/* Call this when the session does not record any more. */
void tfd_darshan_detach(void);
void tfd_darshan_reset_in_child(void);

#endif
