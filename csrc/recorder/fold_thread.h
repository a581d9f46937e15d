/* A thread of ours that folds chunks which are full, so that those which record need not.
 *
 * It runs only while there is something to fold: it starts where a chunk is
 * full that has to be used again, and ends when nothing was for a while, for a
 * fork, with the last thread that needed it, and with the session. So a program whose recording has room has no
 * thread more, one that forks is not told that it has several, and one whose
 * last own thread ends is over. */
#ifndef TFD_FOLD_THREAD_H
#define TFD_FOLD_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "spool/spool.h"

/* Once in a process, before the first session. */
void tfd_fold_thread_initialize(void);
/* True where it runs, as it does after this where it can. Called where no lock is held, in recording threads. */
bool tfd_fold_thread_runs(void);
/* A chunk is full. */
void tfd_fold_thread_tell(void);
/* For those that fold themselves: the thread makes way. */
void tfd_fold_lock_first(void);
/* Between these the caller folds. The first returns how many events were folded before. */
uint64_t tfd_fold_begin_helping(const struct tfd_spool *spool);
void tfd_fold_end_helping(const struct tfd_spool *spool, uint64_t folded_before);

/* Has it end, and waits a moment for that; it does not start again before tfd_fold_thread_let_go. Takes no lock. */
void tfd_fold_thread_hold(void);
void tfd_fold_thread_let_go(void);
/* Where it has ended: waits until the thread is gone, but not in a signal handler. Caller holds the attach lock. */
void tfd_fold_thread_join(void);
/* Ends it with the session. False where it is stuck: what it uses must stay. Caller holds the attach lock. */
bool tfd_fold_thread_stop(void);
void tfd_fold_thread_reset_in_child(void);

#endif
