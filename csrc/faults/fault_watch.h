/* How the watching thread sees page faults: by events while the budget allows them, or by samples of threads. Only that
 * thread calls these. */
#ifndef TFD_FAULT_WATCH_H
#define TFD_FAULT_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "faults/blocked_threads.h"
#include "spool/mapped_file.h"
#include "spool/spool.h"

/* Time between two drains of the rings, which then hold 650,000 samples/s. With few faults drains come less often,
 * since each costs twice its own time. */
#define TFD_FAULT_TICK_NS 20000000
#define TFD_FAULT_LONGEST_TICK_NS 60000000

/* Open the events and measure their cost, or sample threads instead; `totals` gets which. `error`: why the thread
 * has no table of descriptors of its own. */
void tfd_fault_watch_begin(struct tfd_spool *spool, struct tfd_mapped_files *totals, bool has_table,
                           int error);
/* Return true if faults are events, which may be closed at the moment. */
bool tfd_fault_watch_has_events(void);
/* Sample threads if it is time to; return the time until the next work. */
int64_t tfd_fault_watch_wait_ns(void);
/* Return the time between two ticks. */
int64_t tfd_fault_watch_tick_ns(void);
/* Process the samples that are old enough; if `is_last`, all. */
void tfd_fault_watch_tick(bool is_last);
/* Return the times that samples of threads found, and that are not charged to a file yet. */
struct tfd_blocked *tfd_fault_watch_blocked(void);
void tfd_fault_watch_end(void);
void tfd_fault_watch_reset_in_child(void);

#endif
