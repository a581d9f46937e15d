/* Page faults as the watching thread sees them: events while the budget has them, looks at threads where there are none.
 * Its alone. */
#ifndef TFD_FAULT_WATCH_H
#define TFD_FAULT_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "faults/blocked_threads.h"
#include "spool/mapped_file.h"
#include "spool/spool.h"

/* Between two looks at the rings, which hold 650,000 samples a second for the shortest, and what comes where there are
 * few faults: each look costs twice its own time. */
#define TFD_FAULT_TICK_NS 20000000
#define TFD_FAULT_LONGEST_TICK_NS 60000000

/* Opens the events, measures what they cost, or begins with looks; says in `totals` which. `error` is why the thread has
 * no table of descriptors of its own to do that in. */
void tfd_fault_watch_begin(struct tfd_spool *spool, struct tfd_mapped_files *totals, bool has_table,
                           int error);
/* Whether faults are events, though there may be none just now. */
bool tfd_fault_watch_has_events(void);
/* Looks at threads if it is time to. How long it is until there is something to do again. */
int64_t tfd_fault_watch_wait_ns(void);
/* How long until the next tick. */
int64_t tfd_fault_watch_tick_ns(void);
/* Works up what there is; the last time, all of it. */
void tfd_fault_watch_tick(bool is_last);
/* What looks at threads saw, and no file has yet. */
struct tfd_blocked *tfd_fault_watch_blocked(void);
void tfd_fault_watch_end(void);
void tfd_fault_watch_reset_in_child(void);

#endif
