/* Holds the options memory_cap_mb and trace_memory_mb while a session records, for all its processes together: the
 * spool of the session's owner counts what they use. tfdarshan/recording/memory_cap_limit.py lowers both at the
 * session's start. */
#ifndef TFD_MEMORY_CAP_H
#define TFD_MEMORY_CAP_H

#include <stdbool.h>
#include <stdint.h>

#include "spool/spool.h"

/* Of the cap, and of the trace, each process has at least so much though the others have used all of it. Beyond the
 * cap, these take as much again at most: then no more processes are recorded, however many a job starts. */
#define TFD_LEAST_SPOOL_BYTES (1u << 20)
#define TFD_LEAST_TRACE_BYTES (64u << 10)

/* Finds the count: in the process's own spool, or mapped from that of the owner. Without an owner's spool a
 * process has the caps for itself. */
void tfd_memory_cap_find(struct tfd_spool *spool, const char *directory, int32_t owner_pid);
/* Before the own spool is unmapped. */
void tfd_memory_cap_leave(void);
/* Counts what of this process's spool lies below `end`; false where all processes would use more than the cap. */
bool tfd_memory_cap_claim(uint64_t end);
/* Counts these bytes of it no more. This process claims nothing after it, unless it takes them back before. */
void tfd_memory_cap_give_back(uint64_t bytes);
void tfd_memory_cap_take_back(uint64_t bytes);
/* The same for all that this process has claimed, whose spool is removed. */
void tfd_memory_cap_give_back_all(void);
/* Counts bytes of segments that are kept, likewise: all but the last part of the trace's room (TFD_THINNED_PARTS). */
bool tfd_trace_cap_claim(uint64_t bytes);
/* Counts bytes of thinned calls, which may use the rest of it. */
bool tfd_thinned_cap_claim(uint64_t bytes);
/* Bytes of segments that this process keeps, and how many more all processes may. */
uint64_t tfd_trace_cap_claimed(void);
uint64_t tfd_trace_cap_left(void);

#endif
