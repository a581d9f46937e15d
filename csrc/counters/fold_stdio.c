/* Darshan's STDIO counters, by the definitions of its 3.5.0 release:
 * darshan-stdio.c of darshan-runtime. */
#include "counters/fold_step.h"

bool tfd_stdio_plan(struct tfd_spool *spool, struct fold_step *step)
{
    return tfd_plan_stdio(spool, step->record, &step->stdio);
}

static void add_meta_time(struct fold_stdio *stdio, const struct tfd_event *event)
{
    tfd_add_busy(&stdio->meta_time, &stdio->meta_busy_until, event);
}

static void apply_open(struct fold_stdio *stdio, const struct tfd_event *event)
{
    stdio->opens++;
    tfd_earliest(&stdio->open_start, event->start);
    tfd_latest(&stdio->open_end, event->end);
    add_meta_time(stdio, event);
}

static void apply_close(struct fold_stdio *stdio, const struct tfd_event *event)
{
    tfd_earliest(&stdio->close_start, event->start);
    tfd_latest(&stdio->close_end, event->end);
    add_meta_time(stdio, event);
}

static void apply_read(struct fold_stdio *stdio, const struct tfd_event *event)
{
    stdio->reads++;
    stdio->bytes_read += (uint64_t)event->length;
    stdio->offset = tfd_sum(stdio->offset, event->length);
    tfd_highest(&stdio->max_byte_read, tfd_sum(stdio->offset, -1));
    tfd_earliest(&stdio->read_start, event->start);
    tfd_latest(&stdio->read_end, event->end);
    tfd_add_busy(&stdio->read_time, &stdio->read_busy_until, event);
}

/* A flush counts as a write of 0 bytes: it moves the write timestamps, and the highest byte to the position. */
static void apply_write(struct fold_stdio *stdio, const struct tfd_event *event, uint64_t *calls)
{
    ++*calls;
    stdio->bytes_written += (uint64_t)event->length;
    stdio->offset = tfd_sum(stdio->offset, event->length);
    tfd_highest(&stdio->max_byte_written, tfd_sum(stdio->offset, -1));
    tfd_earliest(&stdio->write_start, event->start);
    tfd_latest(&stdio->write_end, event->end);
    tfd_add_busy(&stdio->write_time, &stdio->write_busy_until, event);
}

/* Darshan counts transfers of 0 bytes only for fputs("") and similar calls. */
static bool is_counted(const struct tfd_event *event)
{
    return event->length != 0 || (event->flags & TFD_FLAG_EMPTY_COUNTS);
}

static void show_size_read(struct fold_step *step)
{
    const struct tfd_event *event = &step->event;
    tfd_size_reaches(step->record, event->offset, event->length);
    if (event->length == 0) {
        step->stdio->zero_reads++;
        tfd_size_ends_at(step->record, event->offset);
    }
}

static void apply_transfer(struct fold_step *step)
{
    struct fold_stdio *stdio = step->stdio;
    const struct tfd_event *event = &step->event;
    bool reads = event->operation == TFD_OP_FREAD;
    if (reads)
        show_size_read(step);
    else
        tfd_size_changes(step->record);
    if (!is_counted(event))
        return;
    if (reads)
        apply_read(stdio, event);
    else
        apply_write(stdio, event, &stdio->writes);
}

static void apply_success(struct fold_step *step)
{
    struct fold_stdio *stdio = step->stdio;
    const struct tfd_event *event = &step->event;
    switch (event->operation) {
    case TFD_OP_FOPEN:
        stdio->offset = 0;
        apply_open(stdio, event);
        if (event->flags & TFD_FLAG_WRITABLE)
            tfd_size_changes(step->record);
        break;
    case TFD_OP_FDOPEN:
        stdio->fdopens++;
        apply_open(stdio, event);
        break;
    case TFD_OP_FCLOSE:
        apply_close(stdio, event);
        break;
    case TFD_OP_FSEEK:
        stdio->seeks++;
        stdio->offset = event->offset;
        add_meta_time(stdio, event);
        break;
    case TFD_OP_FFLUSH:
        apply_write(stdio, event, &stdio->flushes);
        break;
    default:
        apply_transfer(step);
    }
}

/* Darshan also counts an fclose that fails, like a close. */
void tfd_stdio_apply(struct fold_step *step)
{
    if (step->event.error)
        step->stdio->failed_calls++;
    if (step->event.error && step->event.operation != TFD_OP_FCLOSE)
        return;
    if (step->event.flags & TFD_FLAG_UNSEEN) {
        step->stdio->unseen++;
        step->stdio->unseen_operations |= 1u << step->event.operation;
    }
    apply_success(step);
}
