/* Adds up what untraced calls do over time: see spool/untraced.h. The fold's journal commits the sums with the other
 * counters. */
#ifndef TFD_UNTRACED_SUMS_H
#define TFD_UNTRACED_SUMS_H

#include "counters/fold_journal.h"
#include "spool/untraced.h"

struct fold_root;

/* The bins that a call changes. */
struct untraced_step {
    struct tfd_untraced *sums; /* NULL: the call is not added */
    uint64_t start, end;       /* ticks since the first bin's start */
    uint64_t length;
    uint32_t first, last;
    uint8_t io_class;
};

/* Find a call's bins; return false if it ends after the last one. */
bool tfd_untraced_place(struct tfd_untraced *sums, const struct tfd_event *event, struct untraced_step *step);
/* Make each two bins one. */
void tfd_untraced_widen(struct tfd_untraced *sums);
void tfd_untraced_apply(const struct untraced_step *step);

/* While a process records: make room, and commit the fold if bins are made wider. Without room, step->sums is NULL. */
void tfd_untraced_plan(struct tfd_spool *spool, struct fold_root *root, const struct tfd_event *event,
                       struct untraced_step *step);
/* Add what is folded of a kept chunk, which is none any more. */
void tfd_untraced_unkeep(struct tfd_spool *spool, struct fold_root *root, struct tfd_chunk *chunk);

static inline uint32_t tfd_untraced_saved_bytes(const struct untraced_step *step)
{
    return step->sums ? (step->last - step->first + 1) * (uint32_t)sizeof(struct tfd_untraced_bin) : 0;
}

#endif
