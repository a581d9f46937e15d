/* Which files are mapped where, as the program maps and unmaps them, and what reads through these mappings cost. */
#ifndef TFD_MAPPINGS_H
#define TFD_MAPPINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "mapping/range_table.h"

/* Once recording has begun here: finds what is mapped already. In its children by itself. `large_alone`: see
 * TFD_MAPPED_LARGE. */
void tfd_mappings_begin(bool large_alone);
/* When no thread records any more, and before the spool is unmapped. False: the watching thread is stuck. */
bool tfd_mappings_end(void);
/* Never watches in this process: in programs that may have a sandbox of their own, which a thread would break. */
void tfd_mappings_leave_alone(void);
void tfd_mappings_reset_in_child(void);

/* From the wrappers. They keep errno. `made` after the call; `ending` before it, for then the address may be another
 * thread's at once. */
void tfd_mapping_made(void *address, size_t length, int fd, off_t offset);
void tfd_mapping_ending(void *address, size_t length);
/* Around mremap: what `from` was, which has ended, and where that is from now on. */
struct tfd_range tfd_mapping_moving(void *from, size_t old_size);
void tfd_mapping_moved(const struct tfd_range *moving, void *to, size_t new_size);

#endif
