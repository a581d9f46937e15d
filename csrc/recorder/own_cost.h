/* What recording adds to a call on this machine: measured at a session's start, on no file of the session. */
#ifndef TFD_OWN_COST_H
#define TFD_OWN_COST_H

#include <stdint.h>

struct tfd_own_cost {
    uint64_t transfer_ns; /* of a read or a write; 0: it could not be measured */
    uint64_t open_ns;     /* of an open and its close */
};

/* Return 0 also if nothing could be measured, or -errno. Takes about a millisecond. Call this with the attach lock, once
 * the session has its spool and before it records. The spool has no file and no event after this, as before. */
int tfd_own_cost_measure(struct tfd_own_cost *cost);

#endif
