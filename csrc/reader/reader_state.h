/* An open spool, folded. */
#ifndef TFD_READER_STATE_H
#define TFD_READER_STATE_H

#include "counters/fold_state.h"
#include "reader/spool_check.h"
#include "reader/tick_scale.h"
#include "tfdarshan.h"

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

static inline const struct fold_record *tfd_reader_record(const struct tfd_reader *reader, uint32_t file)
{
    const struct tfd_spool *spool = &reader->image.spool;
    uint64_t offset = tfd_file_at(spool, file)->record;
    return offset ? tfd_at(spool, offset) : NULL;
}

/* Maps a spool and folds it; with `seen_files`, only what libdarshan saw of these files. */
struct tfd_reader *tfd_reader_fold(const char *path, const uint8_t *seen_files);

static inline struct fold_root *tfd_reader_root(const struct tfd_reader *reader)
{
    return tfd_at(&reader->image.spool, atomic_load(&reader->image.spool.header->fold));
}

#endif
