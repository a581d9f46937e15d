/* The cost of reads through mapped files, from the beginning of a session to its end. */
#ifndef TFD_MAPPED_READS_H
#define TFD_MAPPED_READS_H

#include <stdbool.h>

/* Watch files that are mapped now or later, here and in children. Call this once recording has begun.
 * `large_alone`: see TFD_MAPPED_LARGE. */
void tfd_mapped_reads_begin(bool large_alone);
/* Stop watching; return false if the watching thread is stuck. Call this when no thread records any more, and before
 * the spool is unmapped. */
bool tfd_mapped_reads_end(void);
/* Never watch in this process, for programs that may have a sandbox of their own, which another thread would break. */
void tfd_mapped_reads_leave_alone(void);
void tfd_mapped_reads_reset_in_child(void);

#endif
