/* Takes over the counters a process had folded itself before it ended. */
#ifndef TFD_FOLD_IMPORT_H
#define TFD_FOLD_IMPORT_H

#include "reader/spool_map.h"

/* Undoes the event the process was folding when it was killed, if any. Before
 * tfd_spool_check(): what it writes is not checked. */
void tfd_fold_roll_back(struct spool_image *image);

/* Takes the counters as they lie in the spool: they are to be read, and not
 * changed any more. That takes no memory of the reader's own. False where some
 * make no sense: nothing was taken. */
bool tfd_fold_adopt(struct spool_image *image);

/* Copies all counters into the image's own room, leaving out what makes no
 * sense; the spool's blocks are not used any more. False: parts were left out. */
bool tfd_fold_import(struct spool_image *image);

/* Forgets them: everything will be folded anew from the events. */
void tfd_fold_forget(struct spool_image *image);

#endif
