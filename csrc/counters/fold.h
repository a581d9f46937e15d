/* Folds events into Darshan's POSIX and STDIO counters, off the hot path.
 *
 * Two callers: a recording process that comes to its trace limit (chunks are
 * folded, then recycled), by a thread of ours or by those that record, and the
 * reader at the end (or after a crash). Both work on a struct tfd_spool, all
 * state lives in its arena, so a killed process leaves it complete. */
#ifndef TFD_FOLD_H
#define TFD_FOLD_H

#include "spool/spool.h"

/* Takes at the session's start what folding needs to begin with, so that it
 * works in a spool that has become full since: then the counters of files that
 * find no room join those of TFD_FILE_OVERFLOW. False: no room even for that. */
bool tfd_fold_prepare(struct tfd_spool *spool);

/* Folds published events of all threads, in order of their end, until
 * `limit` events were folded or none is left. Returns the number folded, or
 * -1 when the arena has no room for the counters. One caller at a time. */
int64_t tfd_drain(struct tfd_spool *spool, uint64_t limit);
/* The same until no chunk that its thread has left holds an event, nor one of a thread that has ended: so it does not
 * follow threads event by event while they record. */
int64_t tfd_drain_full(struct tfd_spool *spool, uint64_t limit);
/* How many events were folded. */
uint64_t tfd_fold_count(const struct tfd_spool *spool);
/* Bytes of kept chunks whose events are all folded, and which their threads have left. */
uint64_t tfd_fold_kept_bytes(const struct tfd_spool *spool);

/* Folds the rest of what this process began to fold, so that a reader takes the
 * counters as they are: with as many files as a spool may hold, a second set
 * would be more than the memory cap allows. Nothing where folding was not begun:
 * a reader's counters take the room that was kept free for these. In a full
 * spool the rest is left to the reader, who has room of its own. */
void tfd_fold_finish(struct tfd_spool *spool);

#endif
