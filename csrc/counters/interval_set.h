/* A union of intervals that arrive about in the order of their ends, in
 * bounded memory. Its length is the wall time in I/O.
 *
 * The latest `capacity` disjoint intervals are kept. If there are more, the
 * oldest becomes final: its length is added to `final_ticks`, and later
 * intervals count only from `final_until` on. So the sum is exact, unless a
 * call lasts longer than the last `capacity` disjoint intervals: then it lacks
 * the idle gaps before them, and is never too large. */
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
    uint64_t head; /* the oldest is at head % capacity */
    uint64_t final_ticks, final_until;
    uint64_t reserved;
    struct interval intervals[]; /* a ring, ascending */
};

/* The change that adding one interval makes. */
struct interval_step {
    struct interval_set *set; /* NULL: nothing */
    struct interval added;
    uint32_t low, high; /* intervals low .. high-1 are merged with it */
    bool evict;         /* make the oldest final first */
};

/* Plan the change, and make room in *set_offset for up to `limit` intervals; return false if the arena is full. */
bool tfd_interval_plan(struct tfd_spool *spool, uint64_t *set_offset, uint32_t limit, struct interval added,
                       struct interval_step *step);
uint64_t tfd_interval_saved_bytes(const struct interval_step *step);
void tfd_interval_save(const struct tfd_spool *spool, struct fold_journal *journal,
                       const struct interval_step *step);
void tfd_interval_apply(const struct interval_step *step);

/* Return the length of the union, in ticks. */
uint64_t tfd_interval_total(const struct interval_set *set);

static inline struct interval *tfd_interval_at(struct interval_set *set, uint32_t index)
{
    return &set->intervals[(set->head + index) & (set->capacity - 1)];
}

#endif
