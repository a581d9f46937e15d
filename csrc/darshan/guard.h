/* The way from our wrappers through libdarshan's to the C library.
 *
 * Each call that Darshan may see passes a guard: `tfd_next` points at it while
 * a session with the darshan engine is attached. It lets through what is safe,
 * and sends everything else straight to the C library. */
#ifndef TFD_DARSHAN_GUARD_H
#define TFD_DARSHAN_GUARD_H

#include <stdbool.h>

/* Notes what libdarshan, loaded at `base`, wraps, and gives it our way to the C library. Returns how many. */
int tfd_darshan_guard_prepare(void *handle, const void *base);
bool tfd_darshan_wraps(unsigned hook);
/* Detached: the wrappers' next functions become the guards, or the C library's again. */
bool tfd_darshan_guard_install(void);
void tfd_darshan_guard_remove(void);
void tfd_darshan_guard_reset_in_child(void);

#endif
