/* Descriptors of mapped files for a thread with a table of its own. An open of a file of FUSE or of a network may drop
 * its cached pages, which no look is worth: there the program's own descriptor is copied, or there is none. */
#ifndef TFD_OWN_DESCRIPTOR_H
#define TFD_OWN_DESCRIPTOR_H

#include <stdint.h>

#include "spool/mapped_file.h"
#include "spool/spool.h"

/* Return a descriptor by the file's name in the spool, -1 if there is none. */
int tfd_own_descriptor_by_path(const struct tfd_spool *spool, const struct tfd_mapped_file *file);
/* Return a descriptor of the file that thread `tid` has at `fd`, -1 if there is none. */
int tfd_own_descriptor_like(const struct tfd_mapped_file *file, int32_t tid, int fd);

#endif
