/* The files table: Darshan's counters from the groups of each record. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "counters/counters.h"
#include "counters/fold_step.h"
#include "reader/reader_state.h"
#include "reader/record_id.h"

#define SHOWN_VALUES 4

/* The overflow file has its groups from the session's start, even if nothing overflows. */
static bool has_stdio_row(const struct tfd_reader *reader, uint32_t file, const struct fold_record *record)
{
    static const struct fold_stdio unused;
    const struct fold_stdio *stdio = tfd_block(&reader->image.spool, record->stdio);
    return stdio && (file != TFD_FILE_OVERFLOW || memcmp(stdio, &unused, sizeof unused));
}

static void add_row(struct tfd_reader *reader, uint32_t file, unsigned module)
{
    reader->rows[reader->row_count++] = (uint64_t)file * TFD_TABLE_MODULES + module;
}

bool tfd_reader_list_rows(struct tfd_reader *reader)
{
    uint32_t files = atomic_load(&reader->image.spool.header->file_count);
    reader->rows = malloc(((size_t)files * TFD_TABLE_MODULES + 1) * sizeof *reader->rows);
    if (!reader->rows)
        return false;
    for (uint32_t file = 0; file < files; file++) {
        const struct fold_record *record = tfd_reader_record(reader, file);
        if (record && (record->flags & TFD_RECORD_POSIX))
            add_row(reader, file, TFD_MODULE_POSIX);
        if (record && has_stdio_row(reader, file, record))
            add_row(reader, file, TFD_MODULE_STDIO);
        if (reader->mapped && reader->mapped[file])
            add_row(reader, file, TFD_MODULE_MMAP);
    }
    return true;
}

static double seconds(const struct tfd_reader *reader, uint64_t duration)
{
    return (double)duration * reader->scale.ns_per_tick * 1e-9;
}

static double timestamp(const struct tfd_reader *reader, uint64_t ticks)
{
    if (!ticks)
        return 0;
    return (double)(int64_t)(ticks - reader->scale.start) * reader->scale.ns_per_tick * 1e-9;
}

/* Darshan's order: by frequency, then by value, both descending. */
static bool goes_before(const struct fold_value *a, const struct fold_value *b)
{
    return a->calls > b->calls || (a->calls == b->calls && a->value > b->value);
}

static void show_values(const struct fold_value *values, uint32_t entries, int64_t *shown, int64_t *calls)
{
    struct fold_value top[SHOWN_VALUES + 1];
    uint32_t size = 0;
    for (uint32_t i = 0; i < entries; i++) {
        uint32_t place = size < SHOWN_VALUES ? size++ : SHOWN_VALUES;
        for (; place > 0 && goes_before(&values[i], &top[place - 1]); place--)
            top[place] = top[place - 1];
        top[place] = values[i];
    }
    for (uint32_t i = 0; i < size && i < SHOWN_VALUES; i++) {
        shown[i] = top[i].value;
        calls[i] = (int64_t)top[i].calls;
    }
}

static void show_direction(const struct tfd_reader *reader, const struct fold_direction *from, bool read,
                           int64_t *counters, double *f_counters)
{
    int64_t *sizes = &counters[read ? TFD_COUNTER_POSIX_SIZE_READ_0_100 : TFD_COUNTER_POSIX_SIZE_WRITE_0_100];
    counters[read ? TFD_COUNTER_POSIX_READS : TFD_COUNTER_POSIX_WRITES] = (int64_t)from->calls;
    counters[read ? TFD_COUNTER_POSIX_BYTES_READ : TFD_COUNTER_POSIX_BYTES_WRITTEN] = (int64_t)from->bytes;
    counters[read ? TFD_COUNTER_POSIX_MAX_BYTE_READ : TFD_COUNTER_POSIX_MAX_BYTE_WRITTEN] = from->max_byte;
    counters[read ? TFD_COUNTER_POSIX_CONSEC_READS : TFD_COUNTER_POSIX_CONSEC_WRITES] =
        (int64_t)from->consecutive;
    counters[read ? TFD_COUNTER_POSIX_SEQ_READS : TFD_COUNTER_POSIX_SEQ_WRITES] = (int64_t)from->sequential;
    counters[read ? TFD_COUNTER_POSIX_MAX_READ_TIME_SIZE : TFD_COUNTER_POSIX_MAX_WRITE_TIME_SIZE] =
        from->longest_size;
    for (int i = 0; i < TFD_SIZE_BUCKETS; i++)
        sizes[i] = (int64_t)from->sizes[i];
    f_counters[read ? TFD_COUNTER_POSIX_F_READ_START_TIMESTAMP : TFD_COUNTER_POSIX_F_WRITE_START_TIMESTAMP] =
        timestamp(reader, from->first_start);
    f_counters[read ? TFD_COUNTER_POSIX_F_READ_END_TIMESTAMP : TFD_COUNTER_POSIX_F_WRITE_END_TIMESTAMP] =
        timestamp(reader, from->last_end);
    f_counters[read ? TFD_COUNTER_POSIX_F_READ_TIME : TFD_COUNTER_POSIX_F_WRITE_TIME] =
        seconds(reader, from->time);
    f_counters[read ? TFD_COUNTER_POSIX_F_MAX_READ_TIME : TFD_COUNTER_POSIX_F_MAX_WRITE_TIME] =
        seconds(reader, from->longest);
    if (read) {
        counters[TFD_COUNTER_TFD_ZERO_READS] = (int64_t)from->zero_calls;
        counters[TFD_COUNTER_TFD_ZERO_SEQ_READS] = from->zero_sequential;
        counters[TFD_COUNTER_TFD_ZERO_CONSEC_READS] = from->zero_consecutive;
    }
}

static int64_t record_id_of(struct tfd_reader *reader, uint32_t file)
{
    size_t length = 0;
    const char *path = file ? tfd_reader_path(reader, file, &length) : NULL;
    return path ? (int64_t)tfd_record_id(path, length) : 0;
}

uint64_t tfd_reader_record_id(struct tfd_reader *reader, uint32_t file)
{
    return (uint64_t)record_id_of(reader, file);
}

static void show_rare(struct tfd_reader *reader, const struct fold_rare *from, int64_t *counters,
                      double *f_counters)
{
    counters[TFD_COUNTER_POSIX_FILENOS] = (int64_t)from->filenos;
    counters[TFD_COUNTER_POSIX_MMAPS] = (int64_t)from->mmaps;
    counters[TFD_COUNTER_POSIX_FSYNCS] = (int64_t)from->fsyncs;
    counters[TFD_COUNTER_POSIX_FDSYNCS] = (int64_t)from->fdatasyncs;
    counters[TFD_COUNTER_POSIX_RENAME_SOURCES] = (int64_t)from->rename_sources;
    counters[TFD_COUNTER_POSIX_RENAME_TARGETS] = (int64_t)from->rename_targets;
    counters[TFD_COUNTER_POSIX_RENAMED_FROM] = record_id_of(reader, from->renamed_from);
    counters[TFD_COUNTER_TFD_STATS_OTHER] = (int64_t)from->stats_other;
    counters[TFD_COUNTER_TFD_UNSEEN_CALLS] = (int64_t)from->unseen;
    counters[TFD_COUNTER_TFD_RENAMES] = (int64_t)from->renames;
    counters[TFD_COUNTER_TFD_UNLINKS] = (int64_t)from->unlinks;
    counters[TFD_COUNTER_TFD_TRUNCATES] = (int64_t)from->truncates;
    counters[TFD_COUNTER_TFD_MMAP_BYTES] = (int64_t)from->mmap_bytes;
    counters[TFD_COUNTER_TFD_COPY_READS] = (int64_t)from->copy_reads;
    counters[TFD_COUNTER_TFD_COPY_READ_BYTES] = (int64_t)from->copy_read_bytes;
    counters[TFD_COUNTER_TFD_COPY_WRITES] = (int64_t)from->copy_writes;
    counters[TFD_COUNTER_TFD_COPY_WRITE_BYTES] = (int64_t)from->copy_write_bytes;
    f_counters[TFD_COUNTER_TFD_F_COPY_READ_TIME] = seconds(reader, from->copy_read_time);
    f_counters[TFD_COUNTER_TFD_F_COPY_WRITE_TIME] = seconds(reader, from->copy_write_time);
}

static void show_core(const struct tfd_reader *reader, const struct fold_record *from, int64_t *counters,
                      double *f_counters)
{
    counters[TFD_COUNTER_POSIX_OPENS] = (int64_t)from->opens;
    counters[TFD_COUNTER_POSIX_DUPS] = (int64_t)from->dups;
    counters[TFD_COUNTER_POSIX_SEEKS] = (int64_t)from->seeks;
    counters[TFD_COUNTER_POSIX_STATS] = (int64_t)from->stats;
    counters[TFD_COUNTER_POSIX_MODE] = from->mode;
    counters[TFD_COUNTER_POSIX_RW_SWITCHES] = (int64_t)from->switches;
    counters[TFD_COUNTER_POSIX_MEM_NOT_ALIGNED] = (int64_t)from->mem_not_aligned;
    counters[TFD_COUNTER_POSIX_MEM_ALIGNMENT] = TFD_MEM_ALIGNMENT;
    counters[TFD_COUNTER_POSIX_FILE_NOT_ALIGNED] = (int64_t)from->file_not_aligned;
    counters[TFD_COUNTER_TFD_FAILED_CALLS] = (int64_t)from->failed_calls;
    f_counters[TFD_COUNTER_POSIX_F_OPEN_START_TIMESTAMP] = timestamp(reader, from->open_start);
    f_counters[TFD_COUNTER_POSIX_F_OPEN_END_TIMESTAMP] = timestamp(reader, from->open_end);
    f_counters[TFD_COUNTER_POSIX_F_CLOSE_START_TIMESTAMP] = timestamp(reader, from->close_start);
    f_counters[TFD_COUNTER_POSIX_F_CLOSE_END_TIMESTAMP] = timestamp(reader, from->close_end);
    f_counters[TFD_COUNTER_POSIX_F_META_TIME] = seconds(reader, from->meta_time);
}

static void show_posix(struct tfd_reader *reader, uint32_t file, int64_t *counters, double *f_counters)
{
    const struct tfd_spool *spool = &reader->image.spool;
    const struct fold_record *record = tfd_reader_record(reader, file);
    show_core(reader, record, counters, f_counters);
    counters[TFD_COUNTER_POSIX_FILE_ALIGNMENT] = tfd_file_alignment(spool, file);
    for (int direction = 0; direction < 2; direction++)
        if (record->directions[direction])
            show_direction(reader, tfd_block(spool, record->directions[direction]),
                           direction == TFD_CLASS_READ, counters, f_counters);
    if (record->rare)
        show_rare(reader, tfd_block(spool, record->rare), counters, f_counters);
    show_values(tfd_block(spool, record->accesses), tfd_access_entries(record),
                &counters[TFD_COUNTER_POSIX_ACCESS1_ACCESS], &counters[TFD_COUNTER_POSIX_ACCESS1_COUNT]);
    show_values(tfd_block(spool, record->strides), tfd_stride_entries(record),
                &counters[TFD_COUNTER_POSIX_STRIDE1_STRIDE], &counters[TFD_COUNTER_POSIX_STRIDE1_COUNT]);
}

static void show_stdio(const struct tfd_reader *reader, uint32_t file, int64_t *counters, double *f_counters)
{
    const struct fold_stdio *from = tfd_block(&reader->image.spool, tfd_reader_record(reader, file)->stdio);
    counters[TFD_COUNTER_STDIO_OPENS] = (int64_t)from->opens;
    counters[TFD_COUNTER_STDIO_FDOPENS] = (int64_t)from->fdopens;
    counters[TFD_COUNTER_STDIO_READS] = (int64_t)from->reads;
    counters[TFD_COUNTER_STDIO_WRITES] = (int64_t)from->writes;
    counters[TFD_COUNTER_STDIO_SEEKS] = (int64_t)from->seeks;
    counters[TFD_COUNTER_STDIO_FLUSHES] = (int64_t)from->flushes;
    counters[TFD_COUNTER_STDIO_BYTES_WRITTEN] = (int64_t)from->bytes_written;
    counters[TFD_COUNTER_STDIO_BYTES_READ] = (int64_t)from->bytes_read;
    counters[TFD_COUNTER_STDIO_MAX_BYTE_READ] = from->max_byte_read;
    counters[TFD_COUNTER_STDIO_MAX_BYTE_WRITTEN] = from->max_byte_written;
    counters[TFD_COUNTER_TFD_ZERO_READS] = (int64_t)from->zero_reads;
    counters[TFD_COUNTER_TFD_UNSEEN_CALLS] = (int64_t)from->unseen;
    counters[TFD_COUNTER_TFD_FAILED_CALLS] = (int64_t)from->failed_calls;
    f_counters[TFD_COUNTER_STDIO_F_META_TIME] = seconds(reader, from->meta_time);
    f_counters[TFD_COUNTER_STDIO_F_WRITE_TIME] = seconds(reader, from->write_time);
    f_counters[TFD_COUNTER_STDIO_F_READ_TIME] = seconds(reader, from->read_time);
    f_counters[TFD_COUNTER_STDIO_F_OPEN_START_TIMESTAMP] = timestamp(reader, from->open_start);
    f_counters[TFD_COUNTER_STDIO_F_CLOSE_START_TIMESTAMP] = timestamp(reader, from->close_start);
    f_counters[TFD_COUNTER_STDIO_F_WRITE_START_TIMESTAMP] = timestamp(reader, from->write_start);
    f_counters[TFD_COUNTER_STDIO_F_READ_START_TIMESTAMP] = timestamp(reader, from->read_start);
    f_counters[TFD_COUNTER_STDIO_F_OPEN_END_TIMESTAMP] = timestamp(reader, from->open_end);
    f_counters[TFD_COUNTER_STDIO_F_CLOSE_END_TIMESTAMP] = timestamp(reader, from->close_end);
    f_counters[TFD_COUNTER_STDIO_F_WRITE_END_TIMESTAMP] = timestamp(reader, from->write_end);
    f_counters[TFD_COUNTER_STDIO_F_READ_END_TIMESTAMP] = timestamp(reader, from->read_end);
}

static void show_counters(struct tfd_reader *reader, uint32_t file, unsigned module, int64_t *counters,
                          double *f_counters)
{
    memset(counters, 0, TFD_COUNTER_COUNT * sizeof *counters);
    memset(f_counters, 0, TFD_F_COUNTER_COUNT * sizeof *f_counters);
    if (module == TFD_MODULE_POSIX)
        show_posix(reader, file, counters, f_counters);
    else if (module == TFD_MODULE_STDIO)
        show_stdio(reader, file, counters, f_counters);
    else
        tfd_reader_show_mapped(reader, file, counters, f_counters);
}

static void show_row(struct tfd_reader *reader, uint64_t key, struct tfd_file_batch *batch, size_t row)
{
    uint32_t file = (uint32_t)(key / TFD_TABLE_MODULES),
             mount = tfd_file_at(&reader->image.spool, file)->mount;
    unsigned module = (unsigned)(key % TFD_TABLE_MODULES);
    const struct fold_record *record = tfd_reader_record(reader, file);
    batch->file[row] = file;
    batch->module[row] = (uint8_t)module;
    batch->mount[row] = mount < reader->image.spool.header->mount_count ? (int32_t)mount : -1;
    batch->size_bytes[row] = record && tfd_size_is_known(record) ? record->extent : -1;
    show_counters(reader, file, module, batch->counters + row * TFD_COUNTER_COUNT,
                  batch->f_counters + row * TFD_F_COUNTER_COUNT);
}

size_t tfd_reader_files(struct tfd_reader *reader, uint64_t first, size_t rows, struct tfd_file_batch *batch)
{
    if (first >= reader->row_count)
        return 0;
    if (rows > reader->row_count - first)
        rows = (size_t)(reader->row_count - first);
    for (size_t row = 0; row < rows; row++)
        show_row(reader, reader->rows[first + row], batch, row);
    return rows;
}

const char *tfd_reader_path(struct tfd_reader *reader, uint32_t file, size_t *length)
{
    const struct tfd_spool *spool = &reader->image.spool;
    *length = 0;
    if (file < TFD_FIRST_FILE || file >= atomic_load(&spool->header->file_count))
        return NULL;
    const struct tfd_file *entry = tfd_file_at(spool, file);
    if (!tfd_image_holds(&reader->image, entry->path, entry->path_length))
        return NULL;
    *length = entry->path_length;
    return tfd_at(spool, entry->path);
}
