/* Which files are mapped where, as the program maps and unmaps them. */
#ifndef TFD_MAPPINGS_H
#define TFD_MAPPINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "mapping/range_table.h"

/* Is told of each file that is mapped and not watched yet, by its offset in the spool. `fd` is a descriptor of the
 * file, or below 0 if there is none. */
typedef void tfd_watch_file(uint64_t file, int fd);

/* Once recording has begun here: finds what is mapped already. `large_alone`: see TFD_MAPPED_LARGE. */
void tfd_mappings_begin(bool large_alone, tfd_watch_file *watch);
/* The same in a child of fork. */
void tfd_mappings_begin_in_child(void);
/* New mappings are not noted any more. */
void tfd_mappings_end(void);
void tfd_mappings_reset_in_child(void);

/* From the wrappers. They keep errno. `made` after the call; `ending` before it, for then the address may be another
 * thread's at once. */
void tfd_mapping_made(void *address, size_t length, int fd, off_t offset);
void tfd_mapping_ending(void *address, size_t length);
/* Around mremap: what `from` was, which has ended, and where that is from now on. */
struct tfd_range tfd_mapping_moving(void *from, size_t old_size);
void tfd_mapping_moved(const struct tfd_range *moving, void *to, size_t new_size);

#endif
