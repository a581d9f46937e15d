#include "counters/interval_set.h"

#include <stddef.h>

#include "spool/spool_file.h"

static uint64_t set_bytes(uint32_t capacity)
{
    return sizeof(struct interval_set) + (uint64_t)capacity * sizeof(struct interval);
}

/* The store of *set_offset replaces the old ring by a complete new one. */
static struct interval_set *grow(struct tfd_spool *spool, uint64_t *set_offset, uint32_t limit)
{
    struct interval_set *old = *set_offset ? tfd_at(spool, *set_offset) : NULL;
    uint32_t capacity = old ? old->capacity * 2 : TFD_FIRST_INTERVALS;
    if (capacity > limit)
        capacity = limit;
    uint64_t offset = tfd_arena_allocate(spool, set_bytes(capacity));
    if (!offset)
        return NULL;
    struct interval_set *set = tfd_at(spool, offset);
    set->capacity = capacity;
    if (old) {
        set->final_ticks = old->final_ticks;
        set->final_until = old->final_until;
        set->count = old->count;
        for (uint32_t i = 0; i < old->count; i++)
            set->intervals[i] = *tfd_interval_at(old, i);
    }
    atomic_signal_fence(memory_order_seq_cst);
    *set_offset = offset;
    return set;
}

static void find_place(struct interval_step *step)
{
    struct interval_set *set = step->set;
    uint32_t high = set->count;
    while (high > 0 && tfd_interval_at(set, high - 1)->start > step->added.end)
        high--;
    uint32_t low = high;
    while (low > 0 && tfd_interval_at(set, low - 1)->end >= step->added.start)
        low--;
    step->low = low;
    step->high = high;
}

bool tfd_interval_plan(struct tfd_spool *spool, uint64_t *set_offset, uint32_t limit, struct interval added,
                       struct interval_step *step)
{
    *step = (struct interval_step){.added = added};
    struct interval_set *set = *set_offset ? tfd_at(spool, *set_offset) : grow(spool, set_offset, limit);
    if (!set)
        return false;
    if (added.start < set->final_until)
        step->added.start = set->final_until;
    if (step->added.end <= step->added.start)
        return true;
    step->set = set;
    find_place(step);
    if (step->low == step->high && set->count == set->capacity) {
        struct interval_set *larger = set->capacity < limit ? grow(spool, set_offset, limit) : NULL;
        step->set = larger ? larger : set;
        step->evict = !larger;
    }
    return true;
}

/* The places from `low` on whose content changes: one at most, but for a late arrival or a merger below the top.
 * What lies above the top is not looked at, and does not count. */
static uint32_t changed_places(const struct interval_step *step)
{
    uint32_t count = step->set->count, merged = step->high - step->low;
    if (merged == 1 || (step->evict && step->low == 0))
        return merged;
    return merged ? count - merged + 1 - step->low : count + step->evict - step->low;
}

uint64_t tfd_interval_saved_bytes(const struct interval_step *step)
{
    if (!step->set)
        return 0;
    return sizeof(struct interval_set) + (uint64_t)changed_places(step) * sizeof(struct interval);
}

void tfd_interval_save(const struct tfd_spool *spool, struct fold_journal *journal,
                       const struct interval_step *step)
{
    if (!step->set)
        return;
    struct interval_set *set = step->set;
    tfd_journal_save(spool, journal, set, sizeof *set);
    uint32_t places = changed_places(step);
    uint32_t first = (uint32_t)((set->head + step->low) & (set->capacity - 1));
    uint32_t to_wrap = set->capacity - first < places ? set->capacity - first : places;
    if (to_wrap)
        tfd_journal_save(spool, journal, &set->intervals[first], to_wrap * (uint32_t)sizeof(struct interval));
    if (places > to_wrap)
        tfd_journal_save(spool, journal, set->intervals,
                         (places - to_wrap) * (uint32_t)sizeof(struct interval));
}

static void make_final(struct interval_set *set, struct interval oldest)
{
    set->final_ticks += oldest.end - oldest.start;
    set->final_until = oldest.end;
}

static void insert(struct interval_set *set, uint32_t place, struct interval added)
{
    for (uint32_t i = set->count; i > place; i--)
        *tfd_interval_at(set, i) = *tfd_interval_at(set, i - 1);
    *tfd_interval_at(set, place) = added;
    set->count++;
}

static void merge(struct interval_set *set, uint32_t low, uint32_t high, struct interval added)
{
    struct interval *first = tfd_interval_at(set, low);
    uint64_t end = tfd_interval_at(set, high - 1)->end;
    first->start = added.start < first->start ? added.start : first->start;
    first->end = added.end > end ? added.end : end;
    uint32_t gone = high - low - 1;
    if (!gone)
        return;
    for (uint32_t i = high; i < set->count; i++)
        *tfd_interval_at(set, i - gone) = *tfd_interval_at(set, i);
    set->count -= gone;
}

void tfd_interval_apply(const struct interval_step *step)
{
    struct interval_set *set = step->set;
    if (!set)
        return;
    if (step->low < step->high) {
        merge(set, step->low, step->high, step->added);
    } else if (!step->evict) {
        insert(set, step->low, step->added);
    } else if (step->low == 0) {
        make_final(set, step->added);
    } else {
        make_final(set, *tfd_interval_at(set, 0));
        set->head++;
        set->count--;
        insert(set, step->low - 1, step->added);
    }
}

uint64_t tfd_interval_total(const struct interval_set *set)
{
    uint64_t total = set->final_ticks;
    for (uint32_t i = 0; i < set->count; i++) {
        const struct interval *interval = tfd_interval_at((struct interval_set *)set, i);
        total += interval->end - interval->start;
    }
    return total;
}
