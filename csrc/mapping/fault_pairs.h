/* Makes faults of samples, and finds which file each is of. */
#ifndef TFD_FAULT_PAIRS_H
#define TFD_FAULT_PAIRS_H

#include "mapping/fault_events.h"
#include "mapping/range_table.h"
#include "spool/spool.h"

/* Forgets everything, memory too. */
void tfd_fault_pairs_reset(void);
/* The parent's thread may have been in the middle: its memory is left alone. */
void tfd_fault_pairs_reset_in_child(void);
void tfd_fault_pairs_take(const struct tfd_fault_sample *sample);
/* Works up all samples taken that are older than `before_ns`: a fault may begin on one processor and end on another,
 * whose samples come later. Adds the faults to their files, of the ranges in order, and to the totals. Returns the
 * number of threads that had faults. */
size_t tfd_fault_pairs_work(struct tfd_spool *spool, struct tfd_mapped_files *totals,
                            const struct tfd_range *ranges, size_t range_count, int64_t before_ns);
/* Samples taken and not yet worked up. */
size_t tfd_fault_pairs_waiting(void);
/* The faults that are under way will have no end: events were switched off. */
void tfd_fault_pairs_drop_begun(void);

#endif
