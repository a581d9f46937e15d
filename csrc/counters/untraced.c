#include "counters/untraced.h"

#include <string.h>

#include "counters/fold_state.h"
#include "spool/spool_file.h"

#define X(suffix, name, module, io_class) TFD_CLASS_##io_class,
static const uint8_t class_of[] = {TFD_OPERATIONS(X)};
#undef X

_Static_assert(TFD_UNTRACED_BINS % 2 == 0, "each two bins become one");

bool tfd_untraced_place(struct tfd_untraced *sums, const struct tfd_event *event, struct untraced_step *step)
{
    uint64_t end = event->end > sums->start ? event->end - sums->start : 0;
    uint64_t start = event->start > sums->start ? event->start - sums->start : 0;
    start = start < end ? start : end;
    uint64_t last = (end - (end > start)) >> sums->shift;
    *step = (struct untraced_step){.sums = sums, .start = start, .end = end};
    step->first = (uint32_t)(start >> sums->shift);
    step->last = (uint32_t)last;
    step->io_class = class_of[event->operation];
    step->length = step->io_class == TFD_CLASS_META || event->length < 0 ? 0 : (uint64_t)event->length;
    return last < TFD_UNTRACED_BINS;
}

void tfd_untraced_widen(struct tfd_untraced *sums)
{
    struct tfd_untraced_bin *bins = sums->bins;
    for (uint32_t bin = 0; bin < TFD_UNTRACED_BINS / 2; bin++) {
        const struct tfd_untraced_bin left = bins[2 * bin], right = bins[2 * bin + 1];
        bins[bin] = (struct tfd_untraced_bin){
            .calls = left.calls + right.calls,
            .moved = {left.moved[0] + right.moved[0], left.moved[1] + right.moved[1]},
            .busy = left.busy + right.busy};
    }
    memset(&bins[TFD_UNTRACED_BINS / 2], 0, TFD_UNTRACED_BINS / 2 * sizeof *bins);
    sums->shift++;
}

/* Bytes moved until a moment: rounded down there, whatever the bins, so the sums do not depend on when these became
 * wider. */
static uint64_t moved_until(const struct untraced_step *step, uint64_t ticks)
{
    return (uint64_t)((unsigned __int128)step->length * (ticks - step->start) / (step->end - step->start));
}

void tfd_untraced_apply(const struct untraced_step *step)
{
    struct tfd_untraced_bin *bins = step->sums->bins;
    uint64_t from = step->start, before = 0;
    bins[step->first].calls++;
    for (uint32_t bin = step->first; bin <= step->last; bin++) {
        bool is_last = bin == step->last;
        uint64_t until = is_last ? step->end : (uint64_t)(bin + 1) << step->sums->shift;
        uint64_t moved = is_last ? step->length : moved_until(step, until);
        bins[bin].busy += until - from;
        if (step->length)
            bins[bin].moved[step->io_class] += moved - before;
        before = moved;
        from = until;
    }
}

/* The journal has room for all bins, for when they become wider, and for what a chunk says of itself. */
static uint64_t begin(struct tfd_spool *spool, struct fold_root *root)
{
    struct tfd_spool_header *header = spool->header;
    tfd_journal_end(&root->journal);
    uint64_t offset =
        tfd_journal_reserve(spool, &root->journal, sizeof(struct tfd_untraced) + sizeof(uint32_t))
            ? tfd_arena_allocate(spool, sizeof(struct tfd_untraced))
            : 0;
    if (offset) {
        struct tfd_untraced *sums = tfd_at(spool, offset);
        sums->start = header->start.ticks;
        sums->shift = TFD_UNTRACED_FIRST_SHIFT;
    }
    offset = offset ? offset : TFD_UNTRACED_NO_ROOM;
    atomic_store(&header->untraced, offset);
    return offset;
}

static void widen(struct tfd_spool *spool, struct fold_root *root, struct tfd_untraced *sums)
{
    tfd_journal_end(&root->journal);
    tfd_journal_save(spool, &root->journal, sums, sizeof *sums);
    tfd_untraced_widen(sums);
    tfd_journal_end(&root->journal);
}

void tfd_untraced_plan(struct tfd_spool *spool, struct fold_root *root, const struct tfd_event *event,
                       struct untraced_step *step)
{
    uint64_t offset = atomic_load_explicit(&spool->header->untraced, memory_order_relaxed);
    offset = offset ? offset : begin(spool, root);
    if (offset == TFD_UNTRACED_NO_ROOM)
        return;
    struct tfd_untraced *sums = tfd_at(spool, offset);
    while (!tfd_untraced_place(sums, event, step))
        widen(spool, root, sums);
}

void tfd_untraced_unkeep(struct tfd_spool *spool, struct fold_root *root, struct tfd_chunk *chunk)
{
    uint32_t folded = atomic_load(&chunk->folded);
    struct untraced_step step = {0};
    struct tfd_event event;
    for (uint32_t place = 0; place < folded;) {
        place = tfd_chunk_event(chunk, place, &event);
        tfd_untraced_plan(spool, root, &event, &step);
    }
    struct tfd_untraced *sums = step.sums; /* no call makes its bins wider now */
    tfd_journal_end(&root->journal);
    if (sums) {
        tfd_journal_save(spool, &root->journal, sums, sizeof *sums);
        tfd_journal_save(spool, &root->journal, &chunk->kept, sizeof chunk->kept);
    }
    for (uint32_t place = 0; sums && place < folded;) {
        place = tfd_chunk_event(chunk, place, &event);
        tfd_untraced_place(sums, &event, &step);
        tfd_untraced_apply(&step);
    }
    chunk->kept = 0;
    tfd_journal_end(&root->journal);
}
