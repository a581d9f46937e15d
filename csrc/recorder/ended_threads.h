/* What threads that ended leave in the spool, for threads that begin: programs that make and end threads all the time
 * take no more of it than their threads at one time need.
 *
 * A record is handed on if no call of its thread is in the trace, which keeps tid and name beside each call. Its sums
 * go to record 0, its chunks to a list of empty ones. */
#ifndef TFD_ENDED_THREADS_H
#define TFD_ENDED_THREADS_H

#include "spool/spool.h"

/* Chunks come in so many sizes: 4, 16, 64 and 256 KiB. */
#define TFD_CHUNK_SIZES 4u
#define TFD_CHUNK_BYTES(size) ((4u << 10) << 2 * (size))

static inline uint32_t tfd_chunk_bytes(const struct tfd_chunk *chunk)
{
    return (uint32_t)(sizeof *chunk + chunk->capacity * sizeof(tfd_place));
}

/* Make the record of an ended thread that of a new one. Return false if calls of the ended one are in the trace or
 * cannot be folded. Call this where no lock is held. */
bool tfd_ended_thread_take_over(struct tfd_spool *spool, struct tfd_thread *thread, int32_t tid,
                                const char *name);
/* Return the offset of an empty chunk of this size that is used again, 0 if there is none. Takes tfd_tables_lock. */
uint64_t tfd_ended_chunk_take(const struct tfd_spool *spool, uint32_t bytes);
/* Forget these chunks, which are of another spool. */
void tfd_ended_chunks_forget(void);

#endif
