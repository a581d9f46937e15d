#include "tensorflow/session_plane.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_FILES 256
#define FILES_LIMIT_BYTES (16u << 20)
#define FAILURES_LIMIT 4096

/* Stats of the plane; tfdarshan/sessions/traces/xspace_session.py has the same names. */
#define STATS(X)                                                                                             \
    X(LAYOUT, "layout")                                                                                      \
    X(INFO, "info")                                                                                          \
    X(WINDOW, "window")                                                                                      \
    X(THREADS, "threads")                                                                                    \
    X(MOUNTS, "mounts")                                                                                      \
    X(FAILURES, "failures")                                                                                  \
    X(FILE_NUMBERS, "file numbers")                                                                          \
    X(FILE_FLOATS, "file floats")                                                                            \
    X(FILE_PATHS, "file paths")

#define X(suffix, name) STAT_##suffix,
enum { STAT_NONE, STATS(X) STAT_COUNT };
#undef X
#define X(suffix, name) [STAT_##suffix] = name,
static const char *const names[STAT_COUNT] = {STATS(X)};
#undef X

static void add(struct tfd_bytes *out, int64_t stat, const void *data, size_t length)
{
    tfd_stat_bytes(out, TFD_XPLANE_STATS, stat, data, length);
}

static void add_and_free(struct tfd_bytes *out, int64_t stat, struct tfd_bytes *part)
{
    out->failed |= part->failed;
    add(out, stat, part->data, part->length);
    tfd_bytes_free(part);
}

static void write_layout(struct tfd_bytes *out)
{
    char layout[128];
    int length = snprintf(layout, sizeof layout, "1 %zu %zu %zu %zu %zu %zu", sizeof(struct tfd_spool_info),
                          sizeof(struct tfd_thread_info), sizeof(struct tfd_failure), tfd_counter_count(),
                          tfd_f_counter_count(), tfd_operation_count());
    add(out, STAT_LAYOUT, layout, (size_t)length);
}

static void write_threads(struct tfd_reader *reader, const struct tfd_spool_info *info, struct tfd_bytes *out)
{
    struct tfd_bytes part = {.limit = out->limit};
    struct tfd_thread_info thread;
    for (uint64_t i = 0; i < info->threads; i++)
        if (!tfd_reader_thread(reader, i, &thread))
            tfd_bytes_append(&part, &thread, sizeof thread);
    add_and_free(out, STAT_THREADS, &part);
}

/* Write mount point, type and source, with a NUL each, and the block size in decimal. */
static void write_mounts(struct tfd_reader *reader, const struct tfd_spool_info *info, struct tfd_bytes *out)
{
    struct tfd_bytes part = {.limit = out->limit};
    struct tfd_mount_info mount;
    for (uint32_t i = 0; i < info->mount_count && !tfd_reader_mount(reader, i, &mount); i++) {
        char size[16];
        snprintf(size, sizeof size, "%u", mount.block_size);
        const char *const words[] = {mount.point, mount.fs_type, mount.source, size};
        for (size_t word = 0; word < sizeof words / sizeof *words; word++)
            tfd_bytes_append(&part, words[word], strlen(words[word]) + 1);
    }
    add_and_free(out, STAT_MOUNTS, &part);
}

static int write_failures(struct tfd_reader *reader, struct tfd_bytes *out)
{
    struct tfd_failure *failures = malloc(FAILURES_LIMIT * sizeof *failures);
    if (!failures)
        return -ENOMEM;
    size_t count = tfd_reader_failures(reader, failures, FAILURES_LIMIT);
    add(out, STAT_FAILURES, failures, (count < FAILURES_LIMIT ? count : FAILURES_LIMIT) * sizeof *failures);
    free(failures);
    return 0;
}

struct files {
    struct tfd_bytes numbers, floats, paths;
};

static void zigzag(struct tfd_bytes *out, int64_t value)
{
    tfd_bytes_varint(out, (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0));
}

static void take_row(struct tfd_reader *reader, const struct tfd_file_batch *batch, size_t row,
                     struct files *files)
{
    size_t length, counters = tfd_counter_count(), f_counters = tfd_f_counter_count();
    const char *path = tfd_reader_path(reader, batch->file[row], &length);
    zigzag(&files->numbers, batch->file[row]);
    zigzag(&files->numbers, batch->module[row]);
    zigzag(&files->numbers, batch->mount[row]);
    zigzag(&files->numbers, batch->size_bytes[row]);
    for (size_t i = 0; i < counters; i++)
        zigzag(&files->numbers, batch->counters[row * counters + i]);
    tfd_bytes_append(&files->floats, &batch->f_counters[row * f_counters], f_counters * sizeof(double));
    tfd_bytes_append(&files->paths, path ? path : "", length);
    tfd_bytes_append(&files->paths, "", 1);
}

static bool allocate(struct tfd_file_batch *batch)
{
    batch->file = malloc(BATCH_FILES * sizeof *batch->file);
    batch->module = malloc(BATCH_FILES * sizeof *batch->module);
    batch->mount = malloc(BATCH_FILES * sizeof *batch->mount);
    batch->size_bytes = malloc(BATCH_FILES * sizeof *batch->size_bytes);
    batch->counters = malloc(BATCH_FILES * tfd_counter_count() * sizeof *batch->counters);
    batch->f_counters = malloc(BATCH_FILES * tfd_f_counter_count() * sizeof *batch->f_counters);
    return batch->file && batch->module && batch->mount && batch->size_bytes && batch->counters &&
           batch->f_counters;
}

static void release(struct tfd_file_batch *batch)
{
    free(batch->file);
    free(batch->module);
    free(batch->mount);
    free(batch->size_bytes);
    free(batch->counters);
    free(batch->f_counters);
}

static size_t bytes_of(const struct files *files)
{
    return files->numbers.length + files->floats.length + files->paths.length;
}

static int write_files(struct tfd_reader *reader, struct tfd_bytes *out)
{
    struct tfd_file_batch batch = {0};
    struct files files = {{.limit = out->limit}, {.limit = out->limit}, {.limit = out->limit}};
    int status = allocate(&batch) ? 0 : -ENOMEM;
    uint64_t first = 0;
    size_t rows;
    while (!status && (rows = tfd_reader_files(reader, first, BATCH_FILES, &batch)) > 0) {
        for (size_t row = 0; row < rows && bytes_of(&files) < FILES_LIMIT_BYTES; row++)
            take_row(reader, &batch, row, &files);
        first += rows;
        if (bytes_of(&files) >= FILES_LIMIT_BYTES)
            break;
    }
    add_and_free(out, STAT_FILE_NUMBERS, &files.numbers);
    add_and_free(out, STAT_FILE_FLOATS, &files.floats);
    add_and_free(out, STAT_FILE_PATHS, &files.paths);
    release(&batch);
    return status;
}

int tfd_session_plane(struct tfd_reader *reader, const struct tfd_plane_request *request,
                      struct tfd_bytes *out)
{
    struct tfd_spool_info info;
    int64_t window[] = {request->start_ns, request->end_ns, request->realtime_ns};
    int status = tfd_reader_info(reader, &info);
    if (status)
        return status;
    for (int64_t stat = 1; stat < STAT_COUNT; stat++)
        tfd_metadata(out, TFD_XPLANE_STAT_METADATA, stat, names[stat], strlen(names[stat]));
    write_layout(out);
    add(out, STAT_INFO, &info, sizeof info);
    add(out, STAT_WINDOW, window, sizeof window);
    write_threads(reader, &info, out);
    write_mounts(reader, &info, out);
    status = write_failures(reader, out);
    return status ? status : write_files(reader, out);
}
