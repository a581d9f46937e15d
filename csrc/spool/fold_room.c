#include "spool/fold_room.h"

#include "spool/spool_file.h"

/* Bytes per file that has counters, which may need another group. */
#define FOLD_GROWTH_BYTES 64u
/* Bytes per thread that are kept free, for merging the threads' events, and for what all files share. */
#define FOLD_THREAD_BYTES 128u
#define FOLD_SHARED_BYTES (2u << 20)
#define FOLD_LEAST_SHARED_BYTES (64u << 10)

static uint64_t fold_bytes(const struct tfd_spool *spool)
{
    uint64_t files = atomic_load_explicit(&spool->header->file_count, memory_order_relaxed);
    uint64_t folded = atomic_load_explicit(&spool->header->files_folded, memory_order_relaxed);
    uint64_t threads = atomic_load_explicit(&spool->header->thread_count, memory_order_relaxed);
    return TFD_FOLD_FILE_BYTES * (files > folded ? files - folded : 0) + FOLD_GROWTH_BYTES * folded +
           FOLD_THREAD_BYTES * threads;
}

uint64_t tfd_fold_reserve_bytes(const struct tfd_spool *spool)
{
    uint64_t shared = spool->capacity_bytes / 8;
    return fold_bytes(spool) + (shared < FOLD_SHARED_BYTES ? shared : FOLD_SHARED_BYTES);
}

bool tfd_fold_keep_usable(struct tfd_spool *spool)
{
    return tfd_arena_keep_usable(spool, fold_bytes(spool) + FOLD_LEAST_SHARED_BYTES);
}
