#include "reader/untraced_sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "counters/fold_state.h"
#include "counters/untraced.h"

/* With more, the last bin would end after all time. */
#define LAST_SHIFT 52u

static bool is_sound(const struct spool_image *image, uint64_t offset)
{
    const struct tfd_untraced *sums = tfd_at(&image->spool, offset);
    return tfd_image_holds_block(image, offset, sizeof *sums) && sums->shift <= LAST_SHIFT;
}

/* What the process itself has added up, if anything. */
static struct tfd_untraced *copy_of(const struct spool_image *image, uint64_t offset)
{
    struct tfd_untraced *sums = calloc(1, sizeof *sums);
    if (!sums)
        return NULL;
    if (offset)
        memcpy(sums, tfd_at(&image->spool, offset), sizeof *sums);
    else
        *sums = (struct tfd_untraced){.start = image->spool.header->start.ticks,
                                      .shift = TFD_UNTRACED_FIRST_SHIFT};
    return sums;
}

static void add_not_folded(const struct spool_image *image, uint32_t thread, struct tfd_untraced *sums)
{
    for (uint64_t offset = tfd_thread_at(&image->spool, thread)->first_chunk; offset;) {
        const struct tfd_chunk *chunk = tfd_at(&image->spool, offset);
        uint32_t count = chunk->kept ? 0 : tfd_chunk_count(chunk);
        for (uint32_t place = atomic_load(&chunk->folded); place < count;) {
            struct untraced_step step;
            struct tfd_event event;
            place = tfd_chunk_event(chunk, place, &event);
            if (!tfd_event_makes_sense(&image->spool, &event))
                continue;
            while (!tfd_untraced_place(sums, &event, &step))
                tfd_untraced_widen(sums);
            tfd_untraced_apply(&step);
        }
        offset = chunk->next;
    }
}

int tfd_untraced_sums_fill(const struct spool_image *image, struct tfd_untraced **sums)
{
    const struct tfd_spool_header *header = image->spool.header;
    bool is_older = header->version <= TFD_THINNED_SPOOL_VERSION;
    uint64_t offset = is_older ? TFD_UNTRACED_NO_ROOM : atomic_load(&header->untraced);
    if (offset && !is_sound(image, offset))
        return 0;
    *sums = copy_of(image, offset);
    if (!*sums)
        return tfd_fail(ENOMEM, "no memory to read the spool's sums over time");
    for (uint32_t thread = 0; thread < atomic_load(&header->thread_count); thread++)
        add_not_folded(image, thread, *sums);
    return 0;
}
