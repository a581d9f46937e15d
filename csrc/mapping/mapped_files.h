/* The spool's list of mapped files. One caller at a time; readers may look meanwhile. */
#ifndef TFD_MAPPED_FILES_H
#define TFD_MAPPED_FILES_H

#include <stdint.h>

#include "spool/mapped_file.h"
#include "spool/spool.h"

/* Return the list, made at its first use; NULL if the spool has no room. */
struct tfd_mapped_files *tfd_mapped_files_of(struct tfd_spool *spool);
/* Return the offset of a file's entry, made at its first use; 0 if there is no room. `*is_new`: its device, inode and
 * bytes are not known yet. */
uint64_t tfd_mapped_file_of(struct tfd_spool *spool, uint32_t file, bool *is_new);

/* Call this once for each mapping of a file without an entry. */
void tfd_mapped_files_count_left_out(struct tfd_spool *spool);

static inline struct tfd_mapped_file *tfd_mapped_file_at(const struct tfd_spool *spool, uint64_t offset)
{
    return tfd_at(spool, offset);
}

#endif
