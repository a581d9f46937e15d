/* Makes, fills and unmaps the spool file of a recording process; spool.h is its layout. */
#ifndef TFD_SPOOL_FILE_H
#define TFD_SPOOL_FILE_H

#include "spool/spool.h"

/* Create <directory>/<pid>.spool, a sparse file of `capacity_bytes`; return 0, or -errno with tfd_last_error(). */
int tfd_spool_create(struct tfd_spool *spool, const char *directory, uint64_t capacity_bytes);
/* Mark the spool as readable. Call this when the header is complete. */
void tfd_spool_publish(struct tfd_spool *spool);
void tfd_spool_unmap(struct tfd_spool *spool);
/* Return the offset of `size` bytes, zeroed and aligned to 16; 0 if the cap or
 * the file system refuses. The file's blocks are allocated, so there is no
 * SIGBUS. */
uint64_t tfd_arena_allocate(struct tfd_spool *spool, uint64_t size);
/* The same if `free_bytes` are left after it, else 0. */
uint64_t tfd_arena_allocate_leaving(struct tfd_spool *spool, uint64_t size, uint64_t free_bytes);
/* Allocate blocks for `size` more bytes that will be needed later; return false if the file system has no room. */
bool tfd_arena_keep_usable(struct tfd_spool *spool, uint64_t size);
/* Free a piece if nothing was allocated after it, so that a smaller piece may fit. */
void tfd_arena_give_back(struct tfd_spool *spool, uint64_t offset, uint64_t size);
/* Give back the room that a process which ends has not used, to the file system and to the memory cap. Return
 * its bytes. Caller holds tfd_tables_lock. */
uint64_t tfd_spool_give_back_room(struct tfd_spool *spool);
/* Take these bytes again, for a process that did not end; return false if the file system has no room any more. */
bool tfd_spool_take_back_room(struct tfd_spool *spool, uint64_t bytes);
uint64_t tfd_arena_copy_string(struct tfd_spool *spool, const char *text, size_t length);
void tfd_spool_reset_locks_in_child(void);
/* Put zeroed memory of the child in place of its parent's spool, which is not mapped there. */
void tfd_spool_replace_in_child(struct tfd_spool *spool);

#endif
