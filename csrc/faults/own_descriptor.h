/* Descriptors of mapped files for a thread with its own table. An open on FUSE or a network file system may drop the
 * file's cached pages. There the program's own descriptor is copied, or the file gets none. */
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
