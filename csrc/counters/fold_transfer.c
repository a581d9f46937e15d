/* Darshan's POSIX counters of reads and writes, by the definitions of its
 * 3.5.0 release: darshan-posix.c of darshan-runtime. */
#include "counters/fold_step.h"

static bool is_positional(uint8_t operation)
{
    return operation == TFD_OP_PREAD || operation == TFD_OP_PREADV || operation == TFD_OP_PWRITE ||
           operation == TFD_OP_PWRITEV;
}

/* If a mount's block size is not known yet, it gets the value that Darshan uses if statfs(2) fails. */
int64_t tfd_file_alignment(const struct tfd_spool *spool, uint32_t file)
{
    uint32_t mount = tfd_file_at(spool, file)->mount;
    if (mount >= spool->header->mount_count)
        return -1;
    const struct tfd_mount *mounts = tfd_at(spool, spool->header->mounts);
    uint32_t block_size = atomic_load_explicit(&mounts[mount].block_size, memory_order_relaxed);
    return block_size ? block_size : 4096;
}

/* Darshan keeps one position per file, not per descriptor, and read() and
 * write() begin there whatever the descriptor's own position. A stride is
 * the gap to the byte accessed last in the same direction. */
bool tfd_transfer_plan(struct tfd_spool *spool, struct fold_step *step, enum tfd_class direction)
{
    struct fold_record *record = step->record;
    if (!tfd_plan_direction(spool, record, direction, &step->direction))
        return false;
    int64_t last = step->direction->last_byte, length = step->event.length;
    step->is_read = direction == TFD_CLASS_READ;
    step->offset = is_positional(step->event.operation) ? step->event.offset : record->offset;
    bool after_last = step->offset > 0 && step->offset > last && last != 0;
    step->stride_bytes = after_last ? tfd_sum(step->offset, ~last) : 0; /* ~last is -last - 1 */
    step->alignment = tfd_file_alignment(spool, step->event.file);
    if (length != 0)
        tfd_plan_value(spool, &record->accesses, tfd_access_entries(record), record->access_count, length,
                       &step->access);
    if (step->stride_bytes != 0)
        tfd_plan_value(spool, &record->strides, tfd_stride_entries(record), record->stride_count,
                       step->stride_bytes, &step->stride);
    return true;
}

/* Return the bucket of a size. An upper bound belongs to the lower bucket. */
static uint32_t size_bucket(int64_t size)
{
    static const int64_t upper[TFD_SIZE_BUCKETS - 1] = {100,     1 << 10,  10 << 10,  100 << 10, 1 << 20,
                                                        4 << 20, 10 << 20, 100 << 20, 1 << 30};
    uint32_t bucket = 0;
    while (bucket < TFD_SIZE_BUCKETS - 1 && size > upper[bucket])
        bucket++;
    return bucket;
}

/* Value 0 is never among the four most frequent values, but takes a tracked place. */
static void count_value(struct fold_record *record, struct fold_value *place, int64_t value, uint8_t *tracked,
                        uint8_t zero_flag)
{
    if (value == 0) {
        if (!(record->flags & zero_flag) && *tracked < TFD_TRACKED_VALUES) {
            record->flags |= zero_flag;
            ++*tracked;
        }
    } else if (place) {
        if (!place->calls)
            ++*tracked;
        place->value = value;
        place->calls++;
    }
}

static void count_position(struct fold_step *step)
{
    struct fold_direction *direction = step->direction;
    int64_t next = tfd_sum(step->offset, step->event.length);
    bool sequential = step->offset > direction->last_byte;
    bool consecutive = step->offset == tfd_sum(direction->last_byte, 1);
    direction->sequential += sequential;
    direction->consecutive += consecutive;
    direction->zero_sequential += sequential && step->event.length == 0;
    direction->zero_consecutive += consecutive && step->event.length == 0;
    direction->last_byte = tfd_sum(next, -1);
    step->record->offset = next;
    tfd_highest(&direction->max_byte, direction->last_byte);
    step->record->file_not_aligned += step->alignment > 0 && step->offset % step->alignment != 0;
}

static void count_duration(struct fold_direction *direction, const struct tfd_event *event)
{
    uint64_t elapsed = event->end - event->start;
    if (direction->longest < elapsed) {
        direction->longest = elapsed;
        direction->longest_size = event->length;
    }
    tfd_earliest(&direction->first_start, event->start);
    tfd_latest(&direction->last_end, event->end);
    tfd_add_busy(&direction->time, &direction->busy_until, event);
}

static void count_transfer(struct fold_step *step, uint8_t this_way, uint8_t other_way)
{
    struct fold_record *record = step->record;
    struct fold_direction *direction = step->direction;
    const struct tfd_event *event = &step->event;
    count_position(step);
    count_duration(direction, event);
    direction->calls++;
    direction->bytes += (uint64_t)event->length;
    direction->sizes[size_bucket(event->length)]++;
    count_value(record, step->access, event->length, &record->access_count, TFD_RECORD_ZERO_ACCESS);
    count_value(record, step->stride, step->stride_bytes, &record->stride_count, TFD_RECORD_ZERO_STRIDE);
    record->mem_not_aligned += (event->flags & TFD_FLAG_MEM_UNALIGNED) != 0;
    record->switches += (record->flags & other_way) != 0;
    record->flags = (uint8_t)((record->flags & ~other_way) | this_way);
}

static void apply_read(struct fold_step *step)
{
    count_transfer(step, TFD_RECORD_LAST_READ, TFD_RECORD_LAST_WRITE);
    tfd_size_reaches(step->record, step->event.offset, step->event.length);
    if (step->event.length == 0) {
        step->direction->zero_calls++;
        tfd_size_ends_at(step->record, step->event.offset);
    }
}

static void apply_write(struct fold_step *step)
{
    count_transfer(step, TFD_RECORD_LAST_WRITE, TFD_RECORD_LAST_READ);
    tfd_size_changes(step->record);
}

void tfd_transfer_apply(struct fold_step *step)
{
    if (step->is_read)
        apply_read(step);
    else
        apply_write(step);
}
