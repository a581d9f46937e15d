/* An open spool, folded. */
#ifndef TFD_READER_STATE_H
#define TFD_READER_STATE_H

#include "fold_state.h"
#include "spool_check.h"
#include "tfdarshan.h"
#include "tick_scale.h"

struct tfd_reader {
    struct spool_image image;
    struct spool_contents contents;
    struct tick_scale scale;
    uint32_t *rows; /* of the files table: file id * 2 + module */
    uint64_t row_count;
    struct trace *trace; /* see reader_events.c; NULL until asked for */
};

void tfd_trace_free(struct trace *trace);

/* False: no memory. */
bool tfd_reader_list_rows(struct tfd_reader *reader);

static inline struct fold_root *tfd_reader_root(const struct tfd_reader *reader)
{
    return tfd_at(&reader->image.spool, atomic_load(&reader->image.spool.header->fold));
}

#endif
