/* Mapped files of a spool: their rows, and how their pages were watched. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "counters/counters.h"
#include "reader/reader_state.h"

const struct tfd_mapped_files *tfd_reader_mapped_files(const struct tfd_reader *reader)
{
    uint64_t offset = atomic_load(&reader->image.spool.header->mapped_files);
    bool there = offset && tfd_image_holds_block(&reader->image, offset, sizeof(struct tfd_mapped_files));
    return there ? tfd_at(&reader->image.spool, offset) : NULL;
}

/* A damaged entry ends the list. */
bool tfd_reader_find_mapped(struct tfd_reader *reader)
{
    const struct tfd_mapped_files *list = tfd_reader_mapped_files(reader);
    uint32_t files = atomic_load(&reader->image.spool.header->file_count);
    if (!list)
        return true;
    reader->mapped = calloc((size_t)files + 1, sizeof *reader->mapped);
    if (!reader->mapped)
        return false;
    uint64_t offset = list->first;
    for (uint32_t i = 0; offset && i < TFD_MAPPED_FILES_MAX; i++) {
        const struct tfd_mapped_file *file = tfd_at(&reader->image.spool, offset);
        if (!tfd_image_holds_block(&reader->image, offset, sizeof *file) || file->file >= files ||
            file->file < TFD_FILE_OVERFLOW || reader->mapped[file->file]) {
            reader->contents.damaged = true;
            return true;
        }
        reader->mapped[file->file] = offset;
        offset = file->next;
    }
    return true;
}

static double since_start(const struct tfd_reader *reader, int64_t monotonic_ns)
{
    int64_t start_ns = reader->image.spool.header->start.monotonic_ns;
    return monotonic_ns ? (double)(int64_t)((uint64_t)monotonic_ns - (uint64_t)start_ns) * 1e-9 : 0;
}

static void show_faults(const struct tfd_reader *reader, const struct tfd_mapped_file *from,
                        int64_t *counters, double *f_counters)
{
    counters[TFD_COUNTER_MMAP_FAULTS] = (int64_t)from->faults;
    counters[TFD_COUNTER_MMAP_MAJOR_FAULTS] = (int64_t)from->major_faults;
    counters[TFD_COUNTER_MMAP_BYTES_TOUCHED] = from->bytes_touched;
    f_counters[TFD_COUNTER_MMAP_F_FAULT_START_TIMESTAMP] = since_start(reader, from->first_ns);
    f_counters[TFD_COUNTER_MMAP_F_FAULT_END_TIMESTAMP] = since_start(reader, from->last_ns);
    f_counters[TFD_COUNTER_MMAP_F_FAULT_TIME] = (double)from->busy_ns * 1e-9;
    f_counters[TFD_COUNTER_MMAP_F_WAIT_TIME] = (double)from->wait_ns * 1e-9;
    f_counters[TFD_COUNTER_MMAP_F_MAX_FAULT_TIME] = (double)from->longest_ns * 1e-9;
}

static void show_waits(const struct tfd_mapped_file *from, double *f_counters)
{
    f_counters[TFD_COUNTER_MMAP_F_FAULT_TIME] = (double)from->busy_ns * 1e-9;
    f_counters[TFD_COUNTER_MMAP_F_WAIT_TIME] = (double)from->wait_ns * 1e-9;
}

/* Bytes that a killed process read since the last look are not known. */
static bool are_bytes_known(const struct tfd_mapped_files *list, const struct tfd_mapped_file *file)
{
    return file->bytes_in >= 0 && !file->bytes_missed && (list->settled || !file->held);
}

void tfd_reader_show_mapped(const struct tfd_reader *reader, uint32_t file, int64_t *counters,
                            double *f_counters)
{
    const struct tfd_mapped_file *from = tfd_at(&reader->image.spool, reader->mapped[file]);
    const struct tfd_mapped_files *list = tfd_reader_mapped_files(reader);
    counters[TFD_COUNTER_MMAP_MAPPINGS] = (int64_t)from->mappings;
    counters[TFD_COUNTER_MMAP_BYTES_MAPPED] = (int64_t)from->mapped_bytes;
    bool are_known = are_bytes_known(list, from);
    counters[TFD_COUNTER_MMAP_BYTES_IN] = are_known ? from->bytes_in : -1;
    counters[TFD_COUNTER_MMAP_BYTES_EVICTED] = are_known ? from->bytes_left : -1;
    counters[TFD_COUNTER_MMAP_FAULTS] = counters[TFD_COUNTER_MMAP_MAJOR_FAULTS] = -1;
    counters[TFD_COUNTER_MMAP_BYTES_TOUCHED] = -1;
    f_counters[TFD_COUNTER_MMAP_F_FAULT_TIME] = f_counters[TFD_COUNTER_MMAP_F_WAIT_TIME] = -1;
    if (list->watch == TFD_FAULTS_WATCHED)
        show_faults(reader, from, counters, f_counters);
    else if (list->looks)
        show_waits(from, f_counters);
}

/* Return the block at an offset, NULL at the end of the list or if it is damaged. */
static const struct tfd_fault_block *block_at(const struct tfd_reader *reader, uint64_t offset)
{
    bool there = offset && tfd_image_holds_block(&reader->image, offset, sizeof(struct tfd_fault_block));
    return there ? tfd_at(&reader->image.spool, offset) : NULL;
}

static uint32_t faults_in(const struct tfd_fault_block *block)
{
    uint32_t count = atomic_load(&block->count);
    return count < TFD_FAULTS_IN_BLOCK ? count : TFD_FAULTS_IN_BLOCK;
}

static uint64_t kept_faults(const struct tfd_reader *reader, const struct tfd_mapped_files *list)
{
    uint64_t kept = 0;
    const struct tfd_fault_block *block = block_at(reader, list->first_block);
    for (uint32_t i = 0; block && i < TFD_FAULT_BLOCKS_MAX; i++, block = block_at(reader, block->next))
        kept += faults_in(block);
    return kept;
}

static void show_fault(const struct tfd_reader *reader, const struct tfd_kept_fault *fault,
                       struct tfd_event_batch *batch, size_t row)
{
    uint64_t start_ns = (uint64_t)reader->image.spool.header->start.monotonic_ns;
    uint32_t files = atomic_load(&reader->image.spool.header->file_count);
    batch->start_ns[row] = (int64_t)((uint64_t)fault->start_ns - start_ns);
    batch->end_ns[row] = (int64_t)((uint64_t)fault->end_ns - start_ns);
    batch->tid[row] = fault->tid;
    batch->operation[row] = 0;
    batch->flags[row] = fault->is_major ? TFD_FLAG_MAJOR_FAULT : 0;
    batch->error[row] = 0;
    batch->file[row] = fault->file < files ? fault->file : 0;
    batch->offset[row] = fault->offset;
    batch->length[row] = sysconf(_SC_PAGESIZE);
}

size_t tfd_reader_faults(struct tfd_reader *reader, uint64_t first, size_t rows,
                         struct tfd_event_batch *batch)
{
    const struct tfd_mapped_files *list = tfd_reader_mapped_files(reader);
    const struct tfd_fault_block *block = list ? block_at(reader, list->first_block) : NULL;
    size_t shown = 0;
    uint64_t before = 0;
    for (uint32_t i = 0; block && i < TFD_FAULT_BLOCKS_MAX; i++, block = block_at(reader, block->next)) {
        uint32_t count = faults_in(block);
        uint64_t place = first + shown - before;
        for (; place < count && shown < rows; place++)
            show_fault(reader, &block->faults[place], batch, shown++);
        before += count;
    }
    return shown;
}

int tfd_reader_mapping_info(struct tfd_reader *reader, struct tfd_mapping_info *info)
{
    const struct tfd_mapped_files *list = tfd_reader_mapped_files(reader);
    *info = (struct tfd_mapping_info){0};
    if (!list)
        return 0;
    info->files = list->count;
    info->watch = list->watch;
    info->error = list->error;
    info->faults = list->faults;
    info->samples_lost = list->lost;
    info->samples_unpaired = list->unpaired;
    info->mappings_lost = list->ranges_lost;
    info->mappings_left_out = list->left_out;
    info->faults_kept = kept_faults(reader, list);
    info->faults_left_out = list->faults_left_out;
    info->settled = list->settled;
    info->watched_ns = list->watched_ns;
    info->sampled_ns = list->sampled_ns;
    info->minor_faults = list->minor_faults;
    info->major_faults = list->major_faults;
    info->sampled_faults = list->sampled_faults;
    info->cost_ns = list->cost_ns;
    info->looks = list->looks;
    info->blocked_ns = list->blocked_ns;
    info->blocked_busy_ns = list->blocked_busy_ns;
    return 1;
}

const char *tfd_mapping_watch_name(uint32_t watch)
{
    static const char *const names[] = {
        [TFD_FAULTS_NOT_ASKED] = "not asked",       [TFD_FAULTS_WATCHED] = "watched",
        [TFD_FAULTS_NO_EVENTS] = "no events",       [TFD_FAULTS_NO_THREAD] = "no thread",
        [TFD_FAULTS_NO_TABLE] = "no descriptors",   [TFD_FAULTS_NO_BUFFER] = "no buffer",
        [TFD_FAULTS_TOO_MANY] = "too many threads",
    };
    return watch < sizeof names / sizeof *names ? names[watch] : "unknown";
}
