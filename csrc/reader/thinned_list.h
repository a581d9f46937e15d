/* The thinned calls of a spool (spool/thinned.h), in order of start. */
#ifndef TFD_THINNED_LIST_H
#define TFD_THINNED_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "reader/spool_map.h"
#include "spool/thinned.h"

struct thinned_list {
    const struct spool_image *image;
    uint64_t *
        entries; /* of calls in blocks their offset in the spool, of others COPIED and their place in `copies` */
    size_t count, capacity;
    struct tfd_thinned_call *copies; /* of calls in chunks: as many as the process had not folded */
    size_t copy_count, copy_capacity;
    uint64_t resolution; /* ticks; 0: nothing is thinned */
    uint64_t
        *last_in_trace; /* of each thread: when its calls in the trace begin; UINT64_MAX: there are none */
};

/* Find them in a spool that was checked. Call this before the reader folds: chunks that are used again say by how far
 * they are folded which of their calls the process has thinned itself. Return 0 or -ENOMEM. */
int tfd_thinned_list_fill(struct thinned_list *list, const struct spool_image *image);
/* Return the call at a place below `count`. */
const struct tfd_thinned_call *tfd_thinned_list_call(const struct thinned_list *list, uint64_t place);
void tfd_thinned_list_free(struct thinned_list *list);

#endif
