/* Makes, fills and unmaps the spool file of a recording process; spool.h is its layout. */
#ifndef TFD_SPOOL_FILE_H
#define TFD_SPOOL_FILE_H

#include "spool/spool.h"

/* Creates <directory>/<pid>.spool, sparse, `capacity_bytes` long. 0 or -errno with tfd_last_error(). */
int tfd_spool_create(struct tfd_spool *spool, const char *directory, uint64_t capacity_bytes);
/* Marks it readable: called when the header is complete. */
void tfd_spool_publish(struct tfd_spool *spool);
void tfd_spool_unmap(struct tfd_spool *spool);
/* Gives `size` bytes, zeroed, aligned to 16, or 0 when the cap or the file
 * system refuses (never SIGBUS: the file's blocks are reserved first). */
uint64_t tfd_arena_allocate(struct tfd_spool *spool, uint64_t size);
/* The same where `free_bytes` are left after it, else 0. */
uint64_t tfd_arena_allocate_leaving(struct tfd_spool *spool, uint64_t size, uint64_t free_bytes);
/* False where the file system has no room for `size` bytes more: what must be there later is asked for now. */
bool tfd_arena_keep_usable(struct tfd_spool *spool, uint64_t size);
/* Makes room again, unless something was taken behind it since: a smaller piece may still fit. */
void tfd_arena_give_back(struct tfd_spool *spool, uint64_t offset, uint64_t size);
uint64_t tfd_arena_copy_string(struct tfd_spool *spool, const char *text, size_t length);
void tfd_spool_reset_locks_in_child(void);
/* Zeroed memory of the child's own in place of its parent's spool, which it does not have. */
void tfd_spool_replace_in_child(struct tfd_spool *spool);

#endif
