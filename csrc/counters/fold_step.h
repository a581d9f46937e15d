/* The fold of one event into the counters.
 *
 * Folding has three parts, so that a full arena or a SIGKILL leaves the
 * counters as they were: plan finds or makes every block that the event needs
 * and decides what to do, save copies these blocks into the journal, apply
 * changes them and cannot fail. */
#ifndef TFD_FOLD_STEP_H
#define TFD_FOLD_STEP_H

#include "counters/fold_state.h"
#include "counters/untraced.h"
#include "spool/thinned.h"

struct fold_step {
    struct tfd_event event;
    struct fold_record *record; /* NULL: no file */
    struct fold_record *target; /* of a rename: record of the new name */
    struct fold_rare *rare, *target_rare;
    struct fold_stdio *stdio;
    struct fold_direction *direction;   /* of this read or write */
    struct fold_direction *forgets[2];  /* directions whose last byte an open or close forgets */
    struct fold_value *access, *stride; /* NULL: value 0, or not tracked */
    bool is_read;
    int64_t offset, stride_bytes; /* of this read or write, by Darshan's definitions */
    int64_t alignment;
    uint64_t *failure_calls;
    struct fold_failure *failure;
    struct interval_step unions[2];
    struct tfd_thinned_block *thinned; /* the event is kept there; NULL: it is not */
    struct untraced_step untraced;     /* the event is added there */
};

/* Find or make blocks; return false if the arena is full. */
bool tfd_plan_record(struct tfd_spool *spool, uint32_t file, struct fold_record **record);
bool tfd_plan_rare(struct tfd_spool *spool, struct fold_record *record, struct fold_rare **rare);
bool tfd_plan_stdio(struct tfd_spool *spool, struct fold_record *record, struct fold_stdio **stdio);
bool tfd_plan_direction(struct tfd_spool *spool, struct fold_record *record, enum tfd_class direction,
                        struct fold_direction **block);
/* Find the entry of `value` in a table of tracked values, or the free place that it will take. If the arena is full, a
 * new value is not tracked. Sums stay exact, and spool_full tells. */
void tfd_plan_value(struct tfd_spool *spool, tfd_ref *table, uint32_t entries, uint32_t tracked,
                    int64_t value, struct fold_value **place);
/* Find where a failed call is counted. */
void tfd_plan_failure(struct fold_root *root, struct fold_step *step);

/* Return the block size of the file's file system, -1 if its mount is not known. */
int64_t tfd_file_alignment(const struct tfd_spool *spool, uint32_t file);

/* Plan a read or write of the POSIX module; `direction` is TFD_CLASS_READ or TFD_CLASS_WRITE. */
bool tfd_transfer_plan(struct tfd_spool *spool, struct fold_step *step, enum tfd_class direction);
void tfd_transfer_apply(struct fold_step *step);

bool tfd_posix_plan(struct tfd_spool *spool, struct fold_step *step);
void tfd_posix_apply(struct fold_step *step);
bool tfd_stdio_plan(struct tfd_spool *spool, struct fold_step *step);
void tfd_stdio_apply(struct fold_step *step);

/* Sizes and offsets in a damaged spool may have any value, so sums wrap. */
static inline int64_t tfd_sum(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static inline void tfd_earliest(uint64_t *stamp, uint64_t ticks)
{
    if (*stamp == 0 || *stamp > ticks)
        *stamp = ticks;
}

static inline void tfd_latest(uint64_t *stamp, uint64_t ticks)
{
    if (*stamp < ticks)
        *stamp = ticks;
}

static inline void tfd_highest(int64_t *value, int64_t candidate)
{
    if (*value < candidate)
        *value = candidate;
}

/* Add the part of a call after the end of earlier calls, so that overlapping
 * calls count once. */
static inline void tfd_add_busy(uint64_t *time, uint64_t *busy_until, const struct tfd_event *event)
{
    if (event->end <= *busy_until)
        return;
    *time += event->end - (event->start > *busy_until ? event->start : *busy_until);
    *busy_until = event->end;
}

/* Note the file's size as events show it: stat() and end-of-file reads do. It is not known for a file that is opened
 * for writing or written: other processes may append to it, and a child may have the descriptor. */
void tfd_size_is(struct fold_record *record, int64_t size);
void tfd_size_reaches(struct fold_record *record, int64_t offset, int64_t length); /* read */
void tfd_size_ends_at(struct fold_record *record, int64_t offset);                 /* read nothing */
void tfd_size_changes(struct fold_record *record);
bool tfd_size_is_known(const struct fold_record *record);

#endif
