/* The way from our wrappers through libdarshan's to the C library.
 *
 * Each call that Darshan may see passes a guard, at which `tfd_next` points
 * while a session with the darshan engine is attached. The guard lets safe
 * calls through, and sends all others straight to the C library. */
#ifndef TFD_DARSHAN_GUARD_H
#define TFD_DARSHAN_GUARD_H

#include <stdbool.h>

/* Find the wrappers of libdarshan, which is loaded at `base`, and give them our way to the C library; return how many
 * there are. */
int tfd_darshan_guard_prepare(void *handle, const void *base);
bool tfd_darshan_wraps(unsigned hook);
/* Make the guards, or the C library's functions again, the wrappers' next functions. Only while no session is
 * attached. */
bool tfd_darshan_guard_install(void);
void tfd_darshan_guard_remove(void);
void tfd_darshan_guard_reset_in_child(void);

#endif
