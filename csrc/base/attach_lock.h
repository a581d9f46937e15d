/* Held while objects are looked at and patched, and while sessions begin and end. */
#ifndef TFD_ATTACH_LOCK_H
#define TFD_ATTACH_LOCK_H

#include <stdbool.h>

void tfd_attach_lock(void);
bool tfd_attach_trylock(void);
void tfd_attach_unlock(void);

/* Take the lock; return false if the thread that holds it did not get on (base/backoff.h). That thread may wait for the
 * loader's lock, which the caller holds inside a dlopen, and a call of the host waits meanwhile. Threads that fork go
 * first. */
bool tfd_attach_lock_timed(void);

/* Around fork: a child inherits the lock of the loader's list as it is, and
 * nobody there would release it (glibc resets its other locks only): none of
 * our threads may hold it then. All that look at the list hold the attach lock. */
bool tfd_attach_lock_before_fork(void); /* true: held, until after the fork */
bool tfd_attach_is_locked_for_fork(void);
void tfd_attach_lock_after_fork(void); /* in the parent */
void tfd_attach_lock_reset_in_child(void);

#endif
