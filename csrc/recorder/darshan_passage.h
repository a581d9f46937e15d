/* What the recorder knows of Darshan. */
#ifndef TFD_DARSHAN_PASSAGE_H
#define TFD_DARSHAN_PASSAGE_H

#include <stdint.h>

#include "base/clock.h"

/* When Darshan had recorded this thread's last call, in ticks. It is taken under
 * the lock under which Darshan records: ordered by these ends, events are in the
 * order in which Darshan counted them. */
extern __thread uint64_t tfd_darshan_recorded __attribute__((tls_model("initial-exec")));
extern uint32_t tfd_darshan_attached; /* 1: the session's calls pass through libdarshan */
/* When the records were copied at stop. Calls that Darshan recorded later are not in the copy. */
extern uint64_t tfd_darshan_copied;

/* Return the end of a call that began at `start`. */
static inline uint64_t tfd_end_ticks(uint64_t start)
{
    uint64_t end = tfd_darshan_recorded;
    return __builtin_expect(end >= start, 0) ? end : tfd_ticks();
}

/* Return true for a call that Darshan should have seen but did not, or too late for the copy. */
static inline int tfd_unseen_by_darshan(uint64_t start)
{
    return __builtin_expect(tfd_darshan_attached, 0) &&
           (tfd_darshan_recorded < start || tfd_darshan_recorded >= tfd_darshan_copied);
}

#endif
