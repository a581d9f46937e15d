/* Whether rings of io_uring were used for files: libraries also poll by them, as libuv does in each of PyTorch's
 * distributed jobs. A ring keeps the entries that were submitted last in memory that the process maps. */
#ifndef TFD_RINGS_H
#define TFD_RINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A descriptor is a ring's. */
void tfd_rings_note(void);
/* Something was mapped from `offset` of a descriptor on. */
void tfd_rings_mapped(const void *address, size_t length, int fd, off_t offset);
/* Look at a ring's entries before they are gone. */
void tfd_rings_unmapping(const void *address);
/* A ring is used for files, as far as is known. */
void tfd_rings_note_use(void);
/* Return whether all rings that were noted, and those that are open, were used for other things than files, and
 * forget them. */
bool tfd_rings_spare_files(bool any_open);

#endif
