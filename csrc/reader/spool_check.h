/* Makes a spool image safe to read, whatever the file holds. */
#ifndef TFD_SPOOL_CHECK_H
#define TFD_SPOOL_CHECK_H

#include "reader/spool_map.h"

/* Counts of the threads' chunks. */
struct spool_contents {
    uint64_t events_kept;   /* events in the trace */
    uint64_t events;        /* events in chunks */
    uint64_t events_folded; /* events in chunks that the process itself has folded */
    bool recycled;          /* some events are only in the counters already */
    bool damaged;
};

/* Cut off, in the image, what cannot be read; return 0, or -ENOMEM. Afterwards
 * every count, and every offset to threads, files, mounts and chunks, is in
 * bounds, and none of these overlap. */
int tfd_spool_check(struct spool_image *image, struct spool_contents *contents);

#endif
