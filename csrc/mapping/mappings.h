/* Which files are mapped where, as the program maps and unmaps them. */
#ifndef TFD_MAPPINGS_H
#define TFD_MAPPINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "mapping/range_table.h"

/* Called with each file that is mapped and not watched yet: its offset in the spool, and a descriptor of it,
 * negative if there is none. */
typedef void tfd_watch_file(uint64_t file, int fd);

/* Note files that are mapped from now on, and those that are mapped already. Call this once recording has begun.
 * `large_alone`: see TFD_MAPPED_LARGE. */
void tfd_mappings_begin(bool large_alone, tfd_watch_file *watch);
/* Note inherited mappings in a child of fork. */
void tfd_mappings_begin_in_child(void);
/* Note no more mappings. */
void tfd_mappings_end(void);
void tfd_mappings_reset_in_child(void);

/* The wrappers call these, which keep errno: `made` after mmap(2), `ending` before munmap(2), because another thread
 * may get the address at once. */
void tfd_mapping_made(void *address, size_t length, int fd, off_t offset);
void tfd_mapping_ending(void *address, size_t length);
/* The wrapper of mremap(2) calls these before and after it. `moving` ends the mapping at `from` and returns it; `moved`
 * notes its new place. */
struct tfd_range tfd_mapping_moving(void *from, size_t old_size);
void tfd_mapping_moved(const struct tfd_range *moving, void *to, size_t new_size);

#endif
