/* A union of intervals that arrive about in the order of their ends, in
 * bounded memory: wall-clock time in I/O is its length.
 *
 * The latest `capacity` disjoint intervals are kept. Where there are more,
 * the oldest becomes final: its length joins `final_ticks`, and what arrives
 * later counts only from `final_until` on. So the sum is exact unless a call
 * lasts longer than the last `capacity` disjoint busy times, and then it is
 * short by the idle gaps before them, never too long. */
#ifndef TFD_INTERVAL_SET_H
#define TFD_INTERVAL_SET_H

#include "counters/fold_journal.h"
#include "spool/spool.h"

#define TFD_FIRST_INTERVALS 64u

struct interval {
    uint64_t start, end; /* ticks */
};

struct interval_set {
    uint32_t capacity; /* a power of two */
    uint32_t count;
    uint64_t head; /* place of the oldest is head % capacity */
    uint64_t final_ticks, final_until;
    uint64_t reserved;
    struct interval intervals[]; /* a ring, ascending */
};

/* What adding one interval will change. */
struct interval_step {
    struct interval_set *set; /* NULL: nothing */
    struct interval added;
    uint32_t low, high; /* the intervals low .. high-1 become one with it */
    bool evict;         /* the oldest becomes final first */
};

/* Finds out, and makes room in *set_offset, up to `limit` intervals. False when the arena is full. */
bool tfd_interval_plan(struct tfd_spool *spool, uint64_t *set_offset, uint32_t limit, struct interval added,
                       struct interval_step *step);
uint64_t tfd_interval_saved_bytes(const struct interval_step *step);
void tfd_interval_save(const struct tfd_spool *spool, struct fold_journal *journal,
                       const struct interval_step *step);
void tfd_interval_apply(const struct interval_step *step);

/* Length of the union, in ticks. */
uint64_t tfd_interval_total(const struct interval_set *set);

static inline struct interval *tfd_interval_at(struct interval_set *set, uint32_t index)
{
    return &set->intervals[(set->head + index) & (set->capacity - 1)];
}

#endif
