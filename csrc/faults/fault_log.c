#include "faults/fault_log.h"

#include <stddef.h>

#include "spool/fold_room.h"
#include "spool/memory_cap.h"
#include "spool/spool_file.h"

#define TRACE_SHARE 4          /* faults take 1/TRACE_SHARE of the room for segments */
#define WAITED_NS 20000        /* a longer fault waited for more than mapping a page of the page cache */
#define ROOM_OF_QUICK_FAULTS 2 /* quick faults take 1/ROOM_OF_QUICK_FAULTS of the blocks */

static uint32_t most_blocks(const struct tfd_spool *spool)
{
    uint64_t room = spool->header->trace_limit_bytes / TRACE_SHARE / sizeof(struct tfd_fault_block);
    return room < TFD_FAULT_BLOCKS_MAX ? (uint32_t)room : TFD_FAULT_BLOCKS_MAX;
}

static struct tfd_fault_block *add_block(struct tfd_spool *spool, struct tfd_mapped_files *totals)
{
    uint64_t offset = 0;
    if (tfd_trace_cap_claim(sizeof(struct tfd_fault_block)))
        offset =
            tfd_arena_allocate_leaving(spool, sizeof(struct tfd_fault_block), tfd_fold_reserve_bytes(spool));
    if (!offset) {
        totals->blocks_refused = 1; /* asking again at each fault would use up the room for calls */
        return NULL;
    }
    struct tfd_fault_block *last = totals->last_block ? tfd_at(spool, totals->last_block) : NULL;
    __atomic_store_n(last ? &last->next : &totals->first_block, offset, __ATOMIC_RELEASE);
    totals->last_block = offset;
    totals->blocks++;
    return tfd_at(spool, offset);
}

static struct tfd_fault_block *block_for(struct tfd_spool *spool, struct tfd_mapped_files *totals,
                                         int64_t took_ns)
{
    uint32_t most = most_blocks(spool);
    struct tfd_fault_block *block = totals->last_block ? tfd_at(spool, totals->last_block) : NULL;
    if (took_ns < WAITED_NS && totals->blocks * ROOM_OF_QUICK_FAULTS > most)
        return NULL;
    if (block && atomic_load(&block->count) < TFD_FAULTS_IN_BLOCK)
        return block;
    return totals->blocks < most && !totals->blocks_refused ? add_block(spool, totals) : NULL;
}

void tfd_fault_log_add(struct tfd_spool *spool, struct tfd_mapped_files *totals,
                       const struct tfd_kept_fault *fault)
{
    struct tfd_fault_block *block = block_for(spool, totals, fault->end_ns - fault->start_ns);
    if (!block) {
        totals->faults_left_out++;
        return;
    }
    uint32_t place = atomic_load(&block->count);
    block->faults[place] = *fault;
    atomic_store(&block->count, place + 1); /* last: readers take counted faults for complete */
}
