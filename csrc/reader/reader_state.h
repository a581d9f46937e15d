/* An open spool, folded. */
#ifndef TFD_READER_STATE_H
#define TFD_READER_STATE_H

#include "counters/fold_state.h"
#include "reader/spool_check.h"
#include "reader/thinned_list.h"
#include "reader/tick_scale.h"
#include "reader/untraced_sums.h"
#include "spool/mapped_file.h"
#include "tfdarshan.h"

struct tfd_reader {
    struct spool_image image;
    struct spool_contents contents;
    struct tick_scale scale;
    uint64_t *rows; /* rows of the files table: file id * TFD_TABLE_MODULES + module */
    uint64_t row_count;
    uint64_t *mapped;    /* offset of each file's struct tfd_mapped_file; 0: it has none */
    struct trace *trace; /* see reader_events.c; NULL until it is needed */
    struct thinned_list thinned;
    struct tfd_untraced *untraced; /* NULL: unknown, or there are no such calls */
};

/* Modules of the files table: those of calls, and MMAP, which is not one of calls. */
enum { TFD_MODULE_MMAP = TFD_MODULE_COUNT, TFD_TABLE_MODULES };

/* Return the list of mapped files, NULL if no file was mapped. */
const struct tfd_mapped_files *tfd_reader_mapped_files(const struct tfd_reader *reader);
/* Find the mapped files in the spool; return false if there is no memory. */
bool tfd_reader_find_mapped(struct tfd_reader *reader);
void tfd_reader_show_mapped(const struct tfd_reader *reader, uint32_t file, int64_t *counters,
                            double *f_counters);

void tfd_trace_free(struct trace *trace);
/* Fill a row with a call of a thread. */
void tfd_reader_show_event(const struct tfd_reader *reader, const struct tfd_event *event, int32_t tid,
                           struct tfd_event_batch *batch, size_t row);

/* List the rows; return false if there is no memory. */
bool tfd_reader_list_rows(struct tfd_reader *reader);

static inline const struct fold_record *tfd_reader_record(const struct tfd_reader *reader, uint32_t file)
{
    const struct tfd_spool *spool = &reader->image.spool;
    uint64_t offset = tfd_file_at(spool, file)->record;
    return offset ? tfd_at(spool, offset) : NULL;
}

/* Map a spool and fold it; with `seen_files`, fold only the calls on these files that libdarshan saw. */
struct tfd_reader *tfd_reader_fold(const char *path, const uint8_t *seen_files);

static inline struct fold_root *tfd_reader_root(const struct tfd_reader *reader)
{
    return tfd_at(&reader->image.spool, atomic_load(&reader->image.spool.header->fold));
}

#endif
