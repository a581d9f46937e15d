/* All chunks of a spool image, to find those that overlap something.
 *
 * The reader writes into chunks, threads and files. In a damaged spool two of
 * them may share bytes: writing one would change what was checked in another.
 * So overlapping parts are unlinked before anything is written. */
#ifndef TFD_CHUNK_LIST_H
#define TFD_CHUNK_LIST_H

#include "reader/spool_map.h"

struct chunk_place {
    uint64_t start, end;
    uint64_t link;  /* offset of the 8 bytes that link to this chunk */
    uint32_t order; /* number in the walk */
    bool first;     /* first chunk of its thread */
};

struct chunk_list {
    struct spool_image *image;
    struct chunk_place *chunks;
    uint32_t count, capacity;
    struct {
        uint64_t start, end;
    } segments[2 * TFD_SEGMENT_COUNT]; /* segments of the arrays of threads and files */
    uint32_t segment_count;
};

void tfd_chunk_list_add_segment(struct chunk_list *list, uint64_t offset, uint64_t size);
bool tfd_chunk_list_hits_segment(const struct chunk_list *list, uint64_t offset, uint64_t size);

/* Cut each thread's chain before the first chunk that is out of bounds or
 * overlaps, and then set *damaged; return 0 or -ENOMEM. */
int tfd_chunk_list_check(struct chunk_list *list, bool *damaged);

#endif
