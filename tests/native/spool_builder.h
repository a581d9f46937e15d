/* Writes a spool event by event, as a recording process does, and reads it back. */
#ifndef SPOOL_BUILDER_H
#define SPOOL_BUILDER_H

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "counters/counters.h"
#include "counters/fold.h"
#include "spool/spool_file.h"

/* Ticks are nanoseconds here: start on both clocks. */
#define BUILDER_START 1000000000

static inline void builder_create(struct tfd_spool *spool, const char *directory, uint64_t capacity_bytes)
{
    char path[TFD_SPOOL_PATH_MAX];
    snprintf(path, sizeof path, "%s/%d.spool", directory, (int)getpid());
    unlink(path);
    memset(spool, 0, sizeof *spool);
    CHECK(tfd_spool_create(spool, directory, capacity_bytes) == 0);
    struct tfd_spool_header *header = spool->header;
    header->start = (struct tfd_clock_sample){BUILDER_START, BUILDER_START, 1700000000000000000};
    header->calibration =
        (struct tfd_clock_sample){BUILDER_START / 2, BUILDER_START / 2, 1699999999500000000};
    strcpy(header->host, "host");
    strcpy(header->command, "command");
    header->file_segments[0] =
        tfd_arena_allocate(spool, TFD_FILES_IN_FIRST_SEGMENT * sizeof(struct tfd_file));
    CHECK(header->file_segments[0]);
    tfd_file_at(spool, 0)->mount = tfd_file_at(spool, 1)->mount = TFD_NO_MOUNT;
    atomic_store(&header->file_count, TFD_FIRST_FILE);
    tfd_spool_publish(spool);
}

static inline void builder_mount(struct tfd_spool *spool, const char *point, uint32_t block_size)
{
    struct tfd_spool_header *header = spool->header;
    if (!header->mounts)
        header->mounts = tfd_arena_allocate(spool, 16 * sizeof(struct tfd_mount));
    struct tfd_mount *mount = (struct tfd_mount *)tfd_at(spool, header->mounts) + header->mount_count;
    mount->point = tfd_arena_copy_string(spool, point, strlen(point));
    mount->point_length = (uint32_t)strlen(point);
    mount->fs_type = tfd_arena_copy_string(spool, "ext4", 4);
    mount->source = tfd_arena_copy_string(spool, "disk", 4);
    atomic_store(&mount->block_size, block_size);
    header->mount_count++;
}

static inline uint32_t builder_file(struct tfd_spool *spool, const char *path, uint32_t mount)
{
    struct tfd_spool_header *header = spool->header;
    uint32_t file = atomic_load(&header->file_count), place;
    uint32_t segment = tfd_segment_of(file, TFD_FILES_IN_FIRST_SEGMENT, &place);
    if (!header->file_segments[segment])
        header->file_segments[segment] = tfd_arena_allocate(
            spool, ((uint64_t)TFD_FILES_IN_FIRST_SEGMENT << segment) * sizeof(struct tfd_file));
    CHECK(header->file_segments[segment]);
    struct tfd_file *entry = tfd_file_at(spool, file);
    entry->path = tfd_arena_copy_string(spool, path, strlen(path));
    entry->path_length = (uint32_t)strlen(path);
    entry->mount = mount;
    atomic_store(&header->file_count, file + 1);
    return file;
}

static inline uint32_t builder_thread(struct tfd_spool *spool, int32_t tid)
{
    struct tfd_spool_header *header = spool->header;
    uint32_t index = atomic_load(&header->thread_count), place;
    uint32_t segment = tfd_segment_of(index, TFD_THREADS_IN_FIRST_SEGMENT, &place);
    if (!header->thread_segments[segment])
        header->thread_segments[segment] = tfd_arena_allocate(
            spool, ((uint64_t)TFD_THREADS_IN_FIRST_SEGMENT << segment) * sizeof(struct tfd_thread));
    CHECK(header->thread_segments[segment]);
    struct tfd_thread *thread = tfd_thread_at(spool, index);
    thread->tid = tid;
    snprintf(thread->name, sizeof thread->name, "t%d", (int)tid);
    atomic_store(&header->thread_count, index + 1);
    return index;
}

static inline struct tfd_chunk *builder_chunk(struct tfd_spool *spool, uint32_t thread_index, uint32_t places,
                                              bool kept)
{
    struct tfd_thread *thread = tfd_thread_at(spool, thread_index);
    uint64_t offset = tfd_arena_allocate(spool, sizeof(struct tfd_chunk) + places * sizeof(tfd_place));
    CHECK(offset);
    struct tfd_chunk *chunk = tfd_at(spool, offset);
    chunk->capacity = places;
    chunk->kept = kept;
    if (thread->current_chunk)
        ((struct tfd_chunk *)tfd_at(spool, thread->current_chunk))->next = offset;
    else
        thread->first_chunk = offset;
    thread->current_chunk = offset;
    return chunk;
}

/* Append to the thread's last chunk, or to a new one if that is full. */
static inline void builder_event(struct tfd_spool *spool, uint32_t thread, struct tfd_event event)
{
    uint64_t current = tfd_thread_at(spool, thread)->current_chunk;
    if (!current || !tfd_chunk_append(tfd_at(spool, current), &event))
        CHECK(tfd_chunk_append(builder_chunk(spool, thread, 768, true), &event));
}

/* Append a successful call from start to end, in ns since the session's start. */
static inline void builder_call(struct tfd_spool *spool, uint32_t thread, uint32_t file,
                                enum tfd_operation operation, int64_t offset, int64_t length, uint64_t start,
                                uint64_t end)
{
    builder_event(spool, thread,
                  (struct tfd_event){.start = BUILDER_START + start,
                                     .end = BUILDER_START + end,
                                     .offset = offset,
                                     .length = length,
                                     .file = file,
                                     .operation = (uint8_t)operation});
}

/* End the session `duration_ns` after its start, and unmap the spool. */
static inline void builder_stop(struct tfd_spool *spool, int64_t duration_ns)
{
    struct tfd_spool_header *header = spool->header;
    header->stop = header->start;
    header->stop.ticks += (uint64_t)duration_ns;
    header->stop.monotonic_ns += duration_ns;
    header->stop.realtime_ns += duration_ns;
    atomic_store(&header->state, TFD_SPOOL_STOPPED);
    tfd_spool_unmap(spool);
}

/* Open the spool that builder_create() has made in `directory`. */
static inline struct tfd_reader *builder_open(const char *directory)
{
    char path[TFD_SPOOL_PATH_MAX];
    snprintf(path, sizeof path, "%s/%d.spool", directory, (int)getpid());
    struct tfd_reader *reader = tfd_reader_open(path);
    if (!reader)
        fprintf(stderr, "%s\n", tfd_last_error());
    CHECK(reader);
    return reader;
}

/* One row of the files table. */
struct file_row {
    uint32_t file;
    uint8_t module;
    int32_t mount;
    int64_t size_bytes;
    int64_t counters[TFD_COUNTER_COUNT];
    double f_counters[TFD_F_COUNTER_COUNT];
};

static inline bool next_row(struct tfd_reader *reader, uint64_t index, struct file_row *row)
{
    struct tfd_file_batch batch = {&row->file,       &row->module,  &row->mount,
                                   &row->size_bytes, row->counters, row->f_counters};
    return tfd_reader_files(reader, index, 1, &batch) == 1;
}

static inline bool find_row(struct tfd_reader *reader, uint32_t file, uint8_t module, struct file_row *row)
{
    for (uint64_t i = 0; next_row(reader, i, row); i++)
        if (row->file == file && row->module == module)
            return true;
    return false;
}

/* All counters of the row that are not among the `count` expected ones must be 0. */
struct expected {
    enum tfd_counter counter;
    int64_t value;
};

static inline void check_counters(const struct file_row *row, const struct expected *expected, size_t count)
{
    for (int i = 0; i < TFD_COUNTER_COUNT; i++) {
        int64_t value = 0;
        for (size_t j = 0; j < count; j++)
            if (expected[j].counter == (enum tfd_counter)i)
                value = expected[j].value;
        if (row->counters[i] != value) {
            fprintf(stderr, "file %u: %s is %lld, not %lld\n", row->file, tfd_counter_name((size_t)i),
                    (long long)row->counters[i], (long long)value);
            exit(1);
        }
    }
}

#endif
