/* Darshan's POSIX counters of all calls but reads and writes, by the definitions
 * of its 3.5.0 release: darshan-posix.c of darshan-runtime. Comments name
 * definitions that are unexpected. */
#include "counters/fold_step.h"

/* A rename counts for source and target only if Darshan would know the source. */
static bool plan_rename(struct tfd_spool *spool, struct fold_step *step)
{
    if (!tfd_plan_rare(spool, step->record, &step->rare))
        return false;
    int64_t target = step->event.offset;
    if (!(step->record->flags & TFD_RECORD_TRACKED) || target <= TFD_FILE_NONE ||
        target >= (int64_t)atomic_load_explicit(&spool->header->file_count, memory_order_relaxed))
        return true;
    return tfd_plan_record(spool, (uint32_t)target, &step->target) &&
           tfd_plan_rare(spool, step->target, &step->target_rare);
}

static void plan_forgetting(struct tfd_spool *spool, struct fold_step *step)
{
    step->forgets[0] = tfd_block(spool, step->record->directions[TFD_CLASS_READ]);
    step->forgets[1] = tfd_block(spool, step->record->directions[TFD_CLASS_WRITE]);
}

/* Darshan counts no failed calls but closes, and has no wrappers for copies, unlink and truncate. */
static bool is_missing_in_darshan(const struct tfd_event *event)
{
    return (event->flags & TFD_FLAG_UNSEEN) && (!event->error || event->operation == TFD_OP_CLOSE) &&
           event->length >= 0;
}

static void count_unseen(struct fold_rare *rare, const struct tfd_event *event)
{
    rare->unseen++;
    rare->unseen_operations |= 1u << event->operation;
}

bool tfd_posix_plan(struct tfd_spool *spool, struct fold_step *step)
{
    if (is_missing_in_darshan(&step->event) && !tfd_plan_rare(spool, step->record, &step->rare))
        return false;
    const struct tfd_event *event = &step->event;
    if (event->error && event->operation != TFD_OP_CLOSE)
        return true;
    switch (event->operation) {
    case TFD_OP_READ:
    case TFD_OP_PREAD:
    case TFD_OP_READV:
    case TFD_OP_PREADV:
        return tfd_transfer_plan(spool, step, TFD_CLASS_READ);
    case TFD_OP_WRITE:
    case TFD_OP_PWRITE:
    case TFD_OP_WRITEV:
    case TFD_OP_PWRITEV:
        return tfd_transfer_plan(spool, step, TFD_CLASS_WRITE);
    case TFD_OP_OPEN:
    case TFD_OP_CLOSE:
        plan_forgetting(spool, step);
        return true;
    case TFD_OP_STAT:
    case TFD_OP_FSTAT:
        return event->length >= 0 || tfd_plan_rare(spool, step->record, &step->rare);
    case TFD_OP_FSYNC:
    case TFD_OP_FDATASYNC:
        return tfd_plan_rare(spool, step->record, &step->rare) &&
               tfd_plan_direction(spool, step->record, TFD_CLASS_WRITE, &step->direction);
    case TFD_OP_RENAME:
        return plan_rename(spool, step);
    case TFD_OP_FILENO:
    case TFD_OP_MMAP:
    case TFD_OP_UNLINK:
    case TFD_OP_TRUNCATE:
    case TFD_OP_COPY_READ:
    case TFD_OP_COPY_WRITE:
        return tfd_plan_rare(spool, step->record, &step->rare);
    default:
        return true;
    }
}

static void add_meta_time(struct fold_step *step)
{
    tfd_add_busy(&step->record->meta_time, &step->record->meta_busy_until, &step->event);
}

static void forget_last_bytes(struct fold_step *step)
{
    for (int i = 0; i < 2; i++)
        if (step->forgets[i])
            step->forgets[i]->last_byte = 0;
}

/* dup and fileno count as opens, but do not reset the position. */
static void count_open(struct fold_step *step)
{
    step->record->opens++;
    tfd_earliest(&step->record->open_start, step->event.start);
    tfd_latest(&step->record->open_end, step->event.end);
    add_meta_time(step);
}

static void apply_open(struct fold_step *step)
{
    struct fold_record *record = step->record;
    if (step->event.offset > 0)
        record->mode = (uint32_t)step->event.offset;
    record->offset = 0;
    forget_last_bytes(step);
    count_open(step);
    if (step->event.flags & TFD_FLAG_WRITABLE)
        tfd_size_changes(record);
}

/* A close keeps the position, unlike an open. */
static void apply_close(struct fold_step *step)
{
    forget_last_bytes(step);
    tfd_earliest(&step->record->close_start, step->event.start);
    tfd_latest(&step->record->close_end, step->event.end);
    add_meta_time(step);
}

static void apply_stat(struct fold_step *step)
{
    if (step->event.length < 0) {
        step->rare->stats_other++;
        return;
    }
    step->record->stats++;
    add_meta_time(step);
    tfd_size_is(step->record, step->event.length);
}

static void apply_sync(struct fold_step *step, uint64_t *calls)
{
    ++*calls;
    tfd_add_busy(&step->direction->time, &step->direction->busy_until, &step->event);
}

static void take_size(struct fold_record *record, const struct fold_record *other)
{
    if (tfd_size_is_known(other))
        tfd_size_is(record, other->extent);
    else
        tfd_size_changes(record);
}

static void apply_rename(struct fold_step *step)
{
    struct fold_record *source = step->record, *target = step->target;
    step->rare->renames++;
    if (!(source->flags & TFD_RECORD_TRACKED))
        return;
    step->rare->rename_sources++;
    if (step->event.flags & TFD_FLAG_UNSEEN)
        count_unseen(step->rare, &step->event);
    add_meta_time(step);
    if (!target)
        return;
    target->flags |= TFD_RECORD_POSIX | TFD_RECORD_TRACKED;
    step->target_rare->rename_targets++;
    if (step->event.flags & TFD_FLAG_UNSEEN)
        count_unseen(step->target_rare, &step->event);
    if (!step->target_rare->renamed_from)
        step->target_rare->renamed_from = step->event.file;
    const struct fold_record before = *target;
    take_size(target, source);
    if (step->event.flags & TFD_FLAG_EXCHANGE)
        take_size(source, &before);
}

static void apply_copy_read(struct fold_step *step)
{
    step->rare->copy_reads++;
    step->rare->copy_read_bytes += (uint64_t)step->event.length;
    tfd_add_busy(&step->rare->copy_read_time, &step->rare->copy_read_busy_until, &step->event);
    tfd_size_reaches(step->record, step->event.offset, step->event.length);
}

static void apply_copy_write(struct fold_step *step)
{
    step->rare->copy_writes++;
    step->rare->copy_write_bytes += (uint64_t)step->event.length;
    tfd_add_busy(&step->rare->copy_write_time, &step->rare->copy_write_busy_until, &step->event);
    tfd_size_changes(step->record);
}

/* Operations without a wrapper in Darshan make no record of its modules. */
static bool apply_unseen_by_darshan(struct fold_step *step)
{
    switch (step->event.operation) {
    case TFD_OP_UNLINK:
        step->rare->unlinks++;
        return true;
    case TFD_OP_TRUNCATE:
        step->rare->truncates++;
        tfd_size_changes(step->record);
        return true;
    case TFD_OP_COPY_READ:
        apply_copy_read(step);
        return true;
    case TFD_OP_COPY_WRITE:
        apply_copy_write(step);
        return true;
    case TFD_OP_RENAME:
        apply_rename(step);
        return true;
    default:
        return false;
    }
}

static void apply_seen_by_darshan(struct fold_step *step)
{
    switch (step->event.operation) {
    case TFD_OP_OPEN:
        apply_open(step);
        break;
    case TFD_OP_CLOSE:
        apply_close(step);
        break;
    case TFD_OP_DUP:
        step->record->dups++;
        count_open(step);
        break;
    case TFD_OP_FILENO:
        step->rare->filenos++;
        count_open(step);
        break;
    case TFD_OP_SEEK:
        step->record->seeks++;
        step->record->offset = step->event.offset;
        add_meta_time(step);
        break;
    case TFD_OP_STAT:
    case TFD_OP_FSTAT:
        apply_stat(step);
        break;
    case TFD_OP_FSYNC:
        apply_sync(step, &step->rare->fsyncs);
        break;
    case TFD_OP_FDATASYNC:
        apply_sync(step, &step->rare->fdatasyncs);
        break;
    case TFD_OP_MMAP:
        step->rare->mmaps++;
        step->rare->mmap_bytes += (uint64_t)step->event.length;
        break;
    default:
        tfd_transfer_apply(step);
    }
}

/* A close that fails has still freed its descriptor, so Darshan counts it. */
void tfd_posix_apply(struct fold_step *step)
{
    struct fold_record *record = step->record;
    const struct tfd_event *event = &step->event;
    record->flags |= TFD_RECORD_POSIX;
    if (event->error)
        record->failed_calls++;
    if (event->error && event->operation != TFD_OP_CLOSE)
        return;
    if (apply_unseen_by_darshan(step))
        return;
    if (is_missing_in_darshan(event))
        count_unseen(step->rare, event);
    if (event->length >= 0)
        record->flags |= TFD_RECORD_TRACKED;
    apply_seen_by_darshan(step);
}
