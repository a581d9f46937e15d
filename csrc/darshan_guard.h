/* The way from our wrappers through libdarshan's to the C library.
 *
 * Each call that Darshan may see passes a guard: `tfd_next` points at it while
 * a session with the darshan engine is attached. It lets through what is safe,
 * and sends everything else straight to the C library. */
#ifndef TFD_DARSHAN_GUARD_H
#define TFD_DARSHAN_GUARD_H

#include <stdbool.h>
#include <stdint.h>

/* Calls made by signal handlers while their thread was inside libdarshan. */
uint64_t tfd_darshan_nested_calls(void);
/* Notes what libdarshan, loaded at `base`, wraps, and gives it our way to the C library. Returns how many. */
int tfd_darshan_guard_prepare(void *handle, const void *base);
bool tfd_darshan_wraps(unsigned hook);
/* Detached: the wrappers' next functions become the guards, or the C library's again. */
bool tfd_darshan_guard_install(void);
void tfd_darshan_guard_remove(void);
/* Before a session: Darshan forgets descriptors and streams of the one before, whose numbers may be others' now. */
void tfd_darshan_guard_sweep(void);
/* While a generation is open, its calls pass. */
void tfd_darshan_guard_open(uint32_t generation);
void tfd_darshan_guard_close(void);
/* The session is over: calls are no longer expected to pass. */
void tfd_darshan_guard_detach(void);
/* No thread is between Darshan's first and last change of a record while this lock is held. */
void tfd_darshan_lock(void);
void tfd_darshan_unlock(void);
void tfd_darshan_guard_reset_in_child(void);

#endif
