/* Pairs samples to faults, and finds the file of each fault. */
#ifndef TFD_FAULT_PAIRS_H
#define TFD_FAULT_PAIRS_H

#include "faults/fault_events.h"
#include "mapping/range_table.h"
#include "spool/spool.h"

/* Forget all samples and free their memory. */
void tfd_fault_pairs_reset(void);
/* Forget all samples in a child. The memory is not freed, since the parent's thread may have been changing it. */
void tfd_fault_pairs_reset_in_child(void);
/* The yield of one drain of the rings: samples, threads with samples, and the most samples of one thread. */
struct tfd_fresh_samples {
    uint64_t samples, threads, busiest;
};

void tfd_fault_pairs_begin_drain(void);
void tfd_fault_pairs_take(const struct tfd_fault_sample *sample);
/* Process the samples that are older than `before_ns`, since a fault may begin on one processor and end on another,
 * whose samples come later. Add the faults to their files, which sorted `ranges` tell, and to the totals. */
void tfd_fault_pairs_work(struct tfd_spool *spool, struct tfd_mapped_files *totals,
                          const struct tfd_range *ranges, size_t range_count, int64_t before_ns);
struct tfd_fresh_samples tfd_fault_pairs_fresh(void);
/* Return the samples that were taken and not yet processed. */
size_t tfd_fault_pairs_waiting(void);
/* Note that events of all threads are open since then, 0 if that is not known. A thread whose first sample is an end
 * has been in that fault since then, or longer. */
void tfd_fault_pairs_begin_window(int64_t since_ns);
/* Note that events are closed: faults under way get no end, and have lasted until `until_ns` at least. */
void tfd_fault_pairs_end_window(int64_t until_ns);

#endif
