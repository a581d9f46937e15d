/* Held while objects are looked at and patched, and while sessions begin and end. */
#ifndef TFD_ATTACH_LOCK_H
#define TFD_ATTACH_LOCK_H

#include <pthread.h>
#include <stdbool.h>

extern pthread_mutex_t tfd_attach_lock;

/* Waits a while for whoever attaches, never for good: that may in turn wait
 * for the loader's lock, which the caller holds inside a dlopen. Makes way for
 * threads that fork. */
bool tfd_attach_lock_with_patience(void);
/* The same, longer, for a caller that holds none of the loader's: so that what it does next is recorded. */
bool tfd_attach_lock_to_join(void);

/* Around fork: a child inherits the lock of the loader's list as it is, and
 * nobody there would release it (glibc resets its other locks only): none of
 * our threads may hold it then. All that look at the list hold the attach lock. */
bool tfd_attach_lock_before_fork(void); /* true: held, until after the fork */
void tfd_attach_lock_after_fork(void);  /* in the parent */
void tfd_attach_lock_reset_in_child(void);

#endif
