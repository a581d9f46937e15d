/* The darshan engine's part in starting and stopping a session. */
#ifndef TFD_DARSHAN_ENGINE_H
#define TFD_DARSHAN_ENGINE_H

#include <stdint.h>

/* Before anything is attached: the wrappers' next functions become the guards, and the records are copied. */
int tfd_darshan_begin(uint32_t generation);
/* After detaching. `keep` copies the records once more. */
void tfd_darshan_end(int keep);
void tfd_darshan_reset_in_child(void);

#endif
