/* Ways to read and write files without calls of the C library, so that nothing of it is recorded: io_uring, Linux AIO
 * and cuFile. The session says which of them a process had open. */
#ifndef TFD_BYPASSES_H
#define TFD_BYPASSES_H

#include <stdbool.h>

#include "spool/spool.h"

/* Note what this process has open now. This takes about a millisecond of the processor at most, and little stack: of
 * very many descriptors or mappings the last ones are left out. As a session ends, rings of io_uring that were
 * used for no file are forgotten. */
void tfd_bypasses_look(struct tfd_spool_header *header, bool is_last);
/* Note what a descriptor is, by the target of its link in /proc/self/fd. */
void tfd_bypasses_note_descriptor(struct tfd_spool_header *header, const char *target);

#endif
