/* An open spool, folded. */
#ifndef TFD_READER_STATE_H
#define TFD_READER_STATE_H

#include "counters/fold_state.h"
#include "reader/spool_check.h"
#include "reader/tick_scale.h"
#include "spool/mapped_file.h"
#include "tfdarshan.h"

struct tfd_reader {
    struct spool_image image;
    struct spool_contents contents;
    struct tick_scale scale;
    uint64_t *rows; /* of the files table: file id * TFD_TABLE_MODULES + module */
    uint64_t row_count;
    uint64_t *mapped;    /* of each file, the offset of its struct tfd_mapped_file, 0: it has none */
    struct trace *trace; /* see reader_events.c; NULL until asked for */
};

/* Modules of the files table: those of calls, and MMAP, which has none. */
enum { TFD_MODULE_MMAP = TFD_MODULE_COUNT, TFD_TABLE_MODULES };

/* NULL: no file was mapped. */
const struct tfd_mapped_files *tfd_reader_mapped_files(const struct tfd_reader *reader);
/* Finds the mapped files in the spool; false: no memory. */
bool tfd_reader_find_mapped(struct tfd_reader *reader);
void tfd_reader_show_mapped(const struct tfd_reader *reader, uint32_t file, int64_t *counters,
                            double *f_counters);

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
