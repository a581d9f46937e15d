#include "counters/thinning.h"

#include "counters/untraced.h"
#include "spool/fold_room.h"
#include "spool/memory_cap.h"
#include "spool/spool_file.h"

/* A block that is thinned has at least a quarter free, or the next one is thinned too: a copy pays for so many calls. */
#define MOST_LEFT (TFD_THINNED_IN_BLOCK * 3 / 4)

_Static_assert(sizeof(struct tfd_thinned_block) <= TFD_THINNED_BLOCK_BYTES, "a block's calls fit into it");

bool tfd_thinning_prepare(struct tfd_spool *spool)
{
    struct tfd_spool_header *header = spool->header;
    if (!header->trace_limit_bytes)
        return true;
    uint64_t offset = tfd_arena_allocate(spool, sizeof(struct tfd_thinned));
    atomic_store(&header->thinned, offset);
    return offset;
}

static struct tfd_thinned_block *block_at(const struct tfd_spool *spool, uint64_t offset)
{
    return tfd_at(spool, offset);
}

static uint64_t *link_of(const struct tfd_spool *spool, const struct tfd_thinned *thinned)
{
    return tfd_at(spool, thinned->link);
}

static uint64_t offset_of(const struct tfd_spool *spool, const void *place)
{
    return (uint64_t)((const char *)place - spool->base);
}

static uint64_t allocate_block(struct tfd_spool *spool)
{
    if (!tfd_thinned_cap_claim(TFD_THINNED_BLOCK_BYTES))
        return 0;
    uint64_t offset =
        tfd_arena_allocate_leaving(spool, TFD_THINNED_BLOCK_BYTES, tfd_fold_reserve_bytes(spool));
    if (!offset || tfd_fold_keep_usable(spool))
        return offset;
    tfd_arena_give_back(spool, offset, TFD_THINNED_BLOCK_BYTES);
    return 0;
}

/* The list's last block is the one that is filled, until no more are added. */
static bool add_block(struct tfd_spool *spool, struct tfd_thinned *thinned)
{
    uint64_t offset = thinned->is_full ? 0 : allocate_block(spool);
    thinned->is_full = !offset;
    if (!offset)
        return false;
    uint64_t *link = thinned->blocks ? &block_at(spool, *link_of(spool, thinned))->next : &thinned->first;
    __atomic_store_n(link, offset, __ATOMIC_RELEASE);
    thinned->link = offset_of(spool, link);
    thinned->blocks++;
    return true;
}

static bool begin(struct tfd_spool *spool, struct tfd_thinned *thinned)
{
    thinned->spare = allocate_block(spool);
    bool begun = thinned->spare && add_block(spool, thinned);
    atomic_store(&thinned->lacks, !begun);
    return begun;
}

static void go_to_next(const struct tfd_spool *spool, struct tfd_thinned *thinned)
{
    struct tfd_thinned_block *block = block_at(spool, *link_of(spool, thinned));
    thinned->link = offset_of(spool, block->next ? &block->next : &thinned->first);
}

static uint32_t calls_left(const struct tfd_thinned_block *block, uint64_t resolution)
{
    uint32_t count = atomic_load(&block->count), left = 0;
    for (uint32_t i = 0; i < count; i++)
        left += tfd_thinned_has(resolution, &block->calls[i].event, block->calls[i].thread);
    return left;
}

/* To the lowest one that makes enough room in a block. */
static void raise_resolution(struct tfd_thinned *thinned, const struct tfd_thinned_block *block)
{
    uint64_t resolution = atomic_load(&thinned->resolution);
    do
        resolution = resolution ? 2 * resolution : 1;
    while (calls_left(block, resolution) > MOST_LEFT);
    atomic_store(&thinned->resolution, resolution);
    thinned->unthinned = thinned->blocks;
}

/* Wherever the process is killed, the list has the block or its thinned copy. */
static struct tfd_thinned_block *thin(const struct tfd_spool *spool, struct tfd_thinned *thinned)
{
    uint64_t *link = link_of(spool, thinned), old_offset = *link, new_offset = thinned->spare;
    const struct tfd_thinned_block *old = block_at(spool, old_offset);
    struct tfd_thinned_block *copy = block_at(spool, new_offset);
    uint64_t resolution = atomic_load(&thinned->resolution);
    uint32_t count = atomic_load(&old->count), left = 0;
    for (uint32_t i = 0; i < count; i++)
        if (tfd_thinned_has(resolution, &old->calls[i].event, old->calls[i].thread))
            copy->calls[left++] = old->calls[i];
    atomic_store(&copy->count, left);
    copy->first_opens = old->first_opens;
    copy->next = old->next;
    __atomic_store_n(link, new_offset, __ATOMIC_RELEASE);
    thinned->spare = old_offset;
    thinned->unthinned--;
    return copy;
}

static void make_room(struct tfd_spool *spool, struct tfd_thinned *thinned)
{
    const struct tfd_thinned_block *copy;
    if (add_block(spool, thinned))
        return;
    do {
        go_to_next(spool, thinned);
        if (!thinned->unthinned)
            raise_resolution(thinned, block_at(spool, *link_of(spool, thinned)));
        copy = thin(spool, thinned);
    } while (atomic_load(&copy->count) > MOST_LEFT);
}

/* A file's record knows when its first open began: before that is counted there is none. */
static bool is_first_open(const struct tfd_spool *spool, const struct tfd_event *event)
{
    bool opens = event->operation == TFD_OP_OPEN || event->operation == TFD_OP_FOPEN;
    if (!opens || event->error || event->file < TFD_FIRST_FILE || !tfd_event_makes_sense(spool, event))
        return false;
    const struct tfd_file *file = tfd_file_at(spool, event->file);
    if (file->over_cap || !file->record)
        return !file->over_cap;
    const struct fold_record *record = tfd_at(spool, file->record);
    const struct fold_stdio *stdio = tfd_block(spool, record->stdio);
    uint64_t first = event->operation == TFD_OP_OPEN ? record->open_start : stdio ? stdio->open_start : 0;
    return !first || first == event->start;
}

static struct tfd_thinned_block *filled(const struct tfd_spool *spool, const struct tfd_thinned *thinned)
{
    return block_at(spool, *link_of(spool, thinned));
}

struct tfd_thinned_block *tfd_thinning_plan(struct tfd_spool *spool, struct fold_root *root,
                                            struct tfd_event *event, uint32_t thread)
{
    uint64_t offset = atomic_load_explicit(&spool->header->thinned, memory_order_relaxed);
    struct tfd_thinned *thinned = tfd_at(spool, offset);
    if (!offset || atomic_load_explicit(&thinned->lacks, memory_order_relaxed))
        return NULL;
    bool is_first = is_first_open(spool, event);
    if (!is_first &&
        !tfd_thinned_has(atomic_load_explicit(&thinned->resolution, memory_order_relaxed), event, thread))
        return NULL;
    if (!thinned->blocks && !begin(spool, thinned))
        return NULL;
    if (atomic_load_explicit(&filled(spool, thinned)->count, memory_order_relaxed) >= TFD_THINNED_IN_BLOCK) {
        /* An undo would put back the number of calls of a block that is the spare by then. */
        tfd_journal_end(&root->journal);
        make_room(spool, thinned);
    }
    struct tfd_thinned_block *block = filled(spool, thinned);
    if (is_first && block->first_opens < TFD_THINNED_FIRST_OPENS)
        event->flags |= TFD_FLAG_FIRST_OPEN;
    return tfd_thinned_has(atomic_load(&thinned->resolution), event, thread) ? block : NULL;
}

/* Not found in a child that a signal's handler made: there the spool is empty. */
static bool find_number(const struct tfd_spool *spool, const struct tfd_thread *thread, uint32_t *number)
{
    uint32_t count = atomic_load(&spool->header->thread_count);
    for (*number = 0; *number < count; (*number)++)
        if (tfd_thread_at(spool, *number) == thread)
            return true;
    return false;
}

void tfd_thinning_unkeep(struct tfd_spool *spool, const struct tfd_thread *thread, struct tfd_chunk *chunk)
{
    struct fold_root *root = tfd_at(spool, atomic_load(&spool->header->fold));
    uint32_t number, folded = atomic_load(&chunk->folded);
    if (!find_number(spool, thread, &number))
        return;
    for (uint32_t place = 0; place < folded;) {
        struct tfd_event event;
        place = tfd_chunk_event(chunk, place, &event);
        struct tfd_thinned_block *block = tfd_thinning_plan(spool, root, &event, number);
        if (block)
            tfd_thinning_apply(spool, block, &event, number);
    }
    tfd_untraced_unkeep(spool, root, chunk);
}
