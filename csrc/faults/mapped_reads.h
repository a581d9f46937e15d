/* What reads through mappings of files cost, from the beginning of a session to its end. */
#ifndef TFD_MAPPED_READS_H
#define TFD_MAPPED_READS_H

#include <stdbool.h>

/* Once recording has begun here: watches what is mapped already and what will be. In its children by itself.
 * `large_alone`: see TFD_MAPPED_LARGE. */
void tfd_mapped_reads_begin(bool large_alone);
/* When no thread records any more, and before the spool is unmapped. False: the watching thread is stuck. */
bool tfd_mapped_reads_end(void);
/* Never watches in this process: in programs that may have a sandbox of their own, which a thread would break. */
void tfd_mapped_reads_leave_alone(void);
void tfd_mapped_reads_reset_in_child(void);

#endif
