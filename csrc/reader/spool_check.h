/* Makes a spool image safe to walk, whatever the file held. */
#ifndef TFD_SPOOL_CHECK_H
#define TFD_SPOOL_CHECK_H

#include "reader/spool_map.h"

/* What the walk over the threads' chunks found. */
struct spool_contents {
    uint64_t events_kept;   /* in the trace */
    uint64_t events;        /* in chunks */
    uint64_t events_folded; /* of these, by the process itself */
    bool recycled;          /* some events are only in the counters already */
    bool damaged;
};

/* Cuts off, in the image, what cannot be read: after this every count, and
 * every offset to threads, files, mounts and chunks, is in bounds, and none
 * of these overlap. -ENOMEM when there is no memory to check. */
int tfd_spool_check(struct spool_image *image, struct spool_contents *contents);

#endif
