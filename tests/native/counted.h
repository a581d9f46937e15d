/* Counters of a spool by the reader, independent of what the trace kept. */
#ifndef COUNTED_H
#define COUNTED_H

#include "check.h"

static inline struct tfd_reader *counted_open(const char *directory, int pid)
{
    char path[PATH_MAX];
    check_spool_path(path, directory, pid);
    struct tfd_reader *reader = tfd_reader_open(path);
    if (!reader) {
        fprintf(stderr, "the spool cannot be read: %s\n", tfd_last_error());
        _exit(1);
    }
    return reader;
}

static inline struct tfd_spool_info counted_info(struct tfd_reader *reader)
{
    struct tfd_spool_info info;
    CHECK(tfd_reader_info(reader, &info) == 0);
    return info;
}

static inline size_t counted_place(const char *counter)
{
    for (size_t i = 0; i < tfd_counter_count(); i++)
        if (!strcmp(tfd_counter_name(i), counter))
            return i;
    fprintf(stderr, "no such counter: %s\n", counter);
    _exit(1);
}

static inline bool counted_is_of(struct tfd_reader *reader, uint32_t file, const char *path)
{
    size_t length = 0;
    const char *name = tfd_reader_path(reader, file, &length);
    return !path || (name && length == strlen(path) && !memcmp(name, path, length));
}

/* Return the sum of a counter over the rows of a path (NULL: all rows). */
static inline int64_t counted_sum(struct tfd_reader *reader, const char *path, const char *counter)
{
    size_t place = counted_place(counter), width = tfd_counter_count(), f_width = tfd_f_counter_count();
    uint64_t rows = counted_info(reader).file_rows;
    int64_t sum = 0;
    int64_t *counters = malloc(width * sizeof *counters);
    double *f_counters = malloc(f_width * sizeof *f_counters);
    CHECK(counters && f_counters);
    for (uint64_t row = 0; row < rows; row++) {
        uint32_t file;
        uint8_t module;
        int32_t mount;
        int64_t size;
        struct tfd_file_batch batch = {&file, &module, &mount, &size, counters, f_counters};
        CHECK(tfd_reader_files(reader, row, 1, &batch) == 1);
        if (counted_is_of(reader, file, path))
            sum += counters[place];
    }
    free(counters);
    free(f_counters);
    return sum;
}

#endif
