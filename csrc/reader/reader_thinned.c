/* The thinned calls of an open spool. */
#include "reader/reader_state.h"
#include "tfdarshan.h"

void tfd_reader_thinned_info(struct tfd_reader *reader, struct tfd_thinned_info *info)
{
    const struct thinned_list *list = &reader->thinned;
    *info = (struct tfd_thinned_info){.calls = list->count};
    if (list->resolution) {
        int64_t ns = tfd_duration_to_ns(&reader->scale, list->resolution);
        info->resolution_ns = ns > 1 ? ns : 1;
    }
}

/* In a damaged spool, a block may share bytes with what the reader has written since it was checked. */
static struct tfd_thinned_call sound(const struct tfd_reader *reader, const struct tfd_thinned_call *call)
{
    struct tfd_thinned_call found = *call;
    const struct tfd_spool *spool = &reader->image.spool;
    if (!tfd_event_makes_sense(spool, &found.event)) {
        found.event.operation = 0;
        found.event.file = 0;
    }
    if (found.thread >= atomic_load(&spool->header->thread_count))
        found.thread = 0;
    if (!found.tid)
        found.tid = tfd_thread_at(spool, found.thread)->tid;
    return found;
}

size_t tfd_reader_thinned(struct tfd_reader *reader, uint64_t first, size_t rows,
                          struct tfd_event_batch *batch)
{
    const struct thinned_list *list = &reader->thinned;
    size_t shown = 0;
    for (; shown < rows && first + shown < list->count; shown++) {
        struct tfd_thinned_call call = sound(reader, tfd_thinned_list_call(list, first + shown));
        tfd_reader_show_event(reader, &call.event, call.tid, batch, shown);
    }
    return shown;
}
