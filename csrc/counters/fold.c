#include "counters/fold.h"

#include "counters/fold_step.h"
#include "counters/thinning.h"
#include "spool/spool_file.h"
#include "tfdarshan.h"

#define X(suffix, name, module, io_class) TFD_CLASS_##io_class,
static const uint8_t class_of[] = {TFD_OPERATIONS(X)};
#undef X

#define X(suffix, name, module, io_class) TFD_MODULE_##module,
static const uint8_t module_of[] = {TFD_OPERATIONS(X)};
#undef X

static bool is_left_out(const struct tfd_spool *spool, const struct tfd_event *event)
{
    return spool->seen_files && ((event->flags & TFD_FLAG_UNSEEN) || !spool->seen_files[event->file]);
}

/* In the journal, besides the intervals of the two unions and what is added up over time: more than all other blocks of
 * one event. */
#define JOURNALED_BLOCK_BYTES 2048u
/* How many blocks save() copies at most, these with them. */
#define JOURNALED_BLOCKS 23u

_Static_assert(JOURNALED_BLOCKS <= TFD_JOURNAL_ENTRIES, "the journal has room for one event's blocks");
_Static_assert(sizeof(struct fold_totals) + sizeof(((struct fold_root *)0)->unions) + 2 * sizeof(uint32_t) +
                       2 * sizeof(struct fold_record) + 2 * sizeof(struct fold_rare) +
                       sizeof(struct fold_stdio) + sizeof(struct fold_direction) +
                       4 * sizeof(struct fold_value) + sizeof(struct fold_failure) <=
                   JOURNALED_BLOCK_BYTES,
               "the journal has room for one event's blocks");

struct fold_root *tfd_fold_root(struct tfd_spool *spool)
{
    uint64_t offset = atomic_load(&spool->header->fold);
    if (offset)
        return tfd_at(spool, offset);
    offset = tfd_arena_allocate(spool, sizeof(struct fold_root));
    if (!offset)
        return NULL;
    atomic_store(&spool->header->fold, offset);
    return tfd_at(spool, offset);
}

/* Sets and journal, with all their predecessors, take at most an eighth of the spool: so much is kept free.
 * A power of two, as a set's capacity must be. */
static uint32_t recorder_intervals(const struct tfd_spool *spool)
{
    uint32_t limit = TFD_RECORDER_INTERVALS;
    while (limit > TFD_FIRST_INTERVALS && limit > spool->capacity_bytes / 4096)
        limit /= 2;
    return limit;
}

static bool plan_unions(struct tfd_spool *spool, struct fold_root *root, struct fold_step *step)
{
    uint32_t limit = tfd_is_recording(spool) ? recorder_intervals(spool) : TFD_READER_INTERVALS;
    struct interval added = {step->event.start, step->event.end};
    uint64_t *own = &root->unions[class_of[step->event.operation]];
    return tfd_interval_plan(spool, own, limit, added, &step->unions[0]) &&
           tfd_interval_plan(spool, &root->unions[TFD_UNION_ALL], limit, added, &step->unions[1]);
}

static bool plan(struct tfd_spool *spool, struct fold_root *root, struct fold_step *step)
{
    const struct tfd_event *event = &step->event;
    if (event->error)
        tfd_plan_failure(root, step);
    if (!plan_unions(spool, root, step))
        return false;
    if (event->file == TFD_FILE_NONE)
        return true;
    if (!tfd_plan_record(spool, event->file, &step->record))
        return false;
    return module_of[event->operation] == TFD_MODULE_POSIX ? tfd_posix_plan(spool, step)
                                                           : tfd_stdio_plan(spool, step);
}

static void save_block(const struct tfd_spool *spool, struct fold_journal *journal, const void *block,
                       uint32_t size)
{
    if (block)
        tfd_journal_save(spool, journal, block, size);
}

/* A union that grows while events are not committed leaves the old one as it was: so which one it is is saved. */
static void save(const struct tfd_spool *spool, struct fold_root *root, const struct fold_step *step,
                 const struct tfd_chunk *chunk)
{
    struct fold_journal *journal = &root->journal;
    save_block(spool, journal, &chunk->folded, sizeof chunk->folded);
    save_block(spool, journal, &root->totals, sizeof root->totals);
    save_block(spool, journal, root->unions, sizeof root->unions);
    save_block(spool, journal, step->failure, sizeof *step->failure);
    save_block(spool, journal, step->failure_calls, sizeof *step->failure_calls);
    save_block(spool, journal, step->record, sizeof *step->record);
    save_block(spool, journal, step->target, sizeof *step->target);
    save_block(spool, journal, step->rare, sizeof *step->rare);
    save_block(spool, journal, step->target_rare, sizeof *step->target_rare);
    save_block(spool, journal, step->stdio, sizeof *step->stdio);
    save_block(spool, journal, step->direction, sizeof *step->direction);
    for (int i = 0; i < 2; i++)
        if (step->forgets[i])
            save_block(spool, journal, &step->forgets[i]->last_byte, sizeof step->forgets[i]->last_byte);
    save_block(spool, journal, step->access, sizeof *step->access);
    save_block(spool, journal, step->stride, sizeof *step->stride);
    if (step->thinned)
        save_block(spool, journal, &step->thinned->count, sizeof step->thinned->count);
    if (step->untraced.sums)
        save_block(spool, journal, &step->untraced.sums->bins[step->untraced.first],
                   tfd_untraced_saved_bytes(&step->untraced));
    for (int i = 0; i < 2; i++)
        tfd_interval_save(spool, journal, &step->unions[i]);
}

static void count_failure(struct fold_step *step)
{
    if (step->failure) {
        step->failure->operation = step->event.operation;
        step->failure->error = step->event.error;
        step->failure->calls++;
    }
    if (step->failure_calls)
        ++*step->failure_calls;
}

static void apply(struct fold_root *root, struct fold_step *step)
{
    root->totals.events++;
    root->totals.busy += step->event.end - step->event.start;
    tfd_earliest(&root->totals.first_start, step->event.start);
    tfd_latest(&root->totals.last_end, step->event.end);
    for (int i = 0; i < 2; i++)
        tfd_interval_apply(&step->unions[i]);
    count_failure(step);
    if (!step->record)
        return;
    if (module_of[step->event.operation] == TFD_MODULE_POSIX)
        tfd_posix_apply(step);
    else
        tfd_stdio_apply(step);
}

static bool has_row(const struct tfd_spool *spool, const struct tfd_file *file)
{
    const struct fold_record *record = file->record ? tfd_at(spool, file->record) : NULL;
    return record && ((record->flags & TFD_RECORD_POSIX) || record->stdio);
}

static void count_over_cap(struct tfd_spool *spool, struct tfd_file *file)
{
    if (!file->over_cap)
        atomic_fetch_add(&spool->header->files_over_cap, 1);
    file->over_cap = 1;
}

/* Without room for the file's counters the event counts for the overflow file. A file of which one event does,
 * before it has a row, never gets one, also not from a reader with more room: it would lack that event. */
static bool plan_anywhere(struct tfd_spool *spool, struct fold_root *root, struct fold_step *step,
                          enum fold_full when_full)
{
    struct tfd_event event = step->event;
    struct tfd_file *file = tfd_file_at(spool, event.file);
    if ((!file->over_cap || has_row(spool, file)) && plan(spool, root, step))
        return true;
    if (when_full == FOLD_FULL_STOPS)
        return false;
    count_over_cap(spool, file);
    event.file = TFD_FILE_OVERFLOW;
    *step = (struct fold_step){.event = event};
    return plan(spool, root, step);
}

/* Commits what was folded before, if the journal has no room for this event too. In a full spool there may be no
 * room to copy long unions: then it goes on without the copy. */
static void keep_for_undo(struct tfd_spool *spool, struct fold_root *root, const struct fold_step *step,
                          const struct tfd_chunk *chunk)
{
    struct fold_journal *journal = &root->journal;
    uint64_t size = JOURNALED_BLOCK_BYTES + tfd_interval_saved_bytes(&step->unions[0]) +
                    tfd_interval_saved_bytes(&step->unions[1]) + tfd_untraced_saved_bytes(&step->untraced);
    if (!tfd_journal_has_room(journal, JOURNALED_BLOCKS, size)) {
        tfd_journal_end(journal);
        if (!tfd_journal_reserve(spool, journal, size))
            return;
    }
    save(spool, root, step, chunk);
}

bool tfd_fold_event(struct tfd_spool *spool, struct fold_root *root, struct tfd_chunk *chunk, uint32_t thread,
                    uint32_t index, enum fold_full when_full)
{
    struct fold_step step = {0};
    uint32_t next = tfd_chunk_event(chunk, index, &step.event);
    struct tfd_event event = step.event;
    if (step.event.start > step.event.end)
        step.event.start = step.event.end;
    bool makes_sense = tfd_event_makes_sense(spool, &step.event);
    bool counts = makes_sense && !is_left_out(spool, &step.event);
    if (counts && !plan_anywhere(spool, root, &step, when_full))
        return false;
    if (tfd_is_recording(spool)) {
        if (!chunk->kept) {
            step.thinned = tfd_thinning_plan(spool, root, &event, thread);
            if (counts)
                tfd_untraced_plan(spool, root, &event, &step.untraced);
        }
        keep_for_undo(spool, root, &step, chunk);
    }
    if (counts)
        apply(root, &step);
    if (step.thinned)
        tfd_thinning_apply(spool, step.thinned, &event, thread);
    if (step.untraced.sums)
        tfd_untraced_apply(&step.untraced);
    root->totals.broken += !makes_sense;
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(&chunk->folded, next, memory_order_release);
    return true;
}
