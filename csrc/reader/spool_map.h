/* A reader's private copy of a spool file, with room after it to fold. */
#ifndef TFD_SPOOL_MAP_H
#define TFD_SPOOL_MAP_H

#include "spool/spool.h"

struct spool_image {
    struct tfd_spool spool; /* its arena is the room after the file's bytes */
    uint64_t limit;         /* bytes that come from the file */
    bool damaged;           /* the file is shorter than it says */
};

/* Map a spool; return 0, or -errno with tfd_last_error() if it is not a spool, of a newer version, or not readable. */
int tfd_spool_map(struct spool_image *image, const char *path);
void tfd_spool_image_unmap(struct spool_image *image);

/* Return true if `size` bytes at `offset` are in the file, after the header. */
bool tfd_image_holds(const struct spool_image *image, uint64_t offset, uint64_t size);
/* The same for a block of the arena. */
bool tfd_image_holds_block(const struct spool_image *image, uint64_t offset, uint64_t size);

#endif
