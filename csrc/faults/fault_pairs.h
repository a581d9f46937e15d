/* Makes faults of samples, and finds which file each is of. */
#ifndef TFD_FAULT_PAIRS_H
#define TFD_FAULT_PAIRS_H

#include "faults/fault_events.h"
#include "mapping/range_table.h"
#include "spool/spool.h"

/* Forgets everything, memory too. */
void tfd_fault_pairs_reset(void);
/* The parent's thread may have been in the middle: its memory is left alone. */
void tfd_fault_pairs_reset_in_child(void);
/* What a drain of the rings brought: samples, threads that had any, and the most that one of these had. */
struct tfd_fresh_samples {
    uint64_t samples, threads, busiest;
};

void tfd_fault_pairs_begin_drain(void);
void tfd_fault_pairs_take(const struct tfd_fault_sample *sample);
/* Works up all samples taken that are older than `before_ns`: a fault may begin on one processor and end on another,
 * whose samples come later. Adds the faults to their files, of the ranges in order, and to the totals. */
void tfd_fault_pairs_work(struct tfd_spool *spool, struct tfd_mapped_files *totals,
                          const struct tfd_range *ranges, size_t range_count, int64_t before_ns);
struct tfd_fresh_samples tfd_fault_pairs_fresh(void);
/* Samples taken and not yet worked up. */
size_t tfd_fault_pairs_waiting(void);
/* Events of all threads are open since then: whose first sample is an end has been in that fault since, or longer. 0:
 * that is not known. */
void tfd_fault_pairs_begin_window(int64_t since_ns);
/* Events are closed: the faults that are under way will have no end, and have lasted until now at least. */
void tfd_fault_pairs_end_window(int64_t until_ns);

#endif
