/* What untraced calls did over time (spool/untraced.h), with those that the process had not folded. */
#ifndef TFD_READER_UNTRACED_SUMS_H
#define TFD_READER_UNTRACED_SUMS_H

#include "reader/spool_map.h"
#include "spool/untraced.h"

/* Add it up in a spool that was checked. Call this before the reader folds, as tfd_thinned_list_fill(). Return 0 or
 * -ENOMEM. *sums is the caller's to free, and NULL if there are no such calls or the spool does not say. */
int tfd_untraced_sums_fill(const struct spool_image *image, struct tfd_untraced **sums);

#endif
