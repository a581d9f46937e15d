/* Takes over the counters that a process had folded itself before it ended. */
#ifndef TFD_FOLD_IMPORT_H
#define TFD_FOLD_IMPORT_H

#include "reader/spool_map.h"

/* Undoes what the process had not committed when it was killed. Before
 * tfd_spool_check(): what it writes is not checked. */
void tfd_fold_roll_back(struct spool_image *image);

/* Use the counters in the spool itself, which must not change any more. This
 * takes no memory. Return false if some are invalid; then none are used. */
bool tfd_fold_adopt(struct spool_image *image);

/* Copy all counters into the image's own room; return false if invalid ones
 * were left out. The spool's blocks are not used any more. */
bool tfd_fold_import(struct spool_image *image);

/* Forget the counters, so that all events are folded again. */
void tfd_fold_forget(struct spool_image *image);

#endif
