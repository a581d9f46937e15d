/* A spool of random calls, folded by whom one likes, and what reads all of it. */
#ifndef WHOLE_SPOOL_H
#define WHOLE_SPOOL_H

#include <sys/stat.h>

#include "counters/fold_state.h"
#include "spool_builder.h"

#define FILES 40

static uint64_t random_state = 1;

/* xorshift64* of Marsaglia and Vigna: the same spools on every machine. */
static inline uint64_t random_number(void)
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return random_state * 2685821657736338717u;
}

static inline uint64_t below(uint64_t limit)
{
    return random_number() % limit;
}

static inline void add_random_call(struct tfd_spool *spool, uint32_t thread, uint64_t now)
{
    struct tfd_event event = {.start = BUILDER_START + now,
                              .end = BUILDER_START + now + below(300),
                              .offset = (int64_t)below(100000),
                              .length = (int64_t)below(3000),
                              .file = (uint32_t)below(FILES + 2),
                              .operation = (uint8_t)below(TFD_OPERATION_COUNT)};
    if (below(20) == 0)
        event.error = (uint16_t)(1 + below(40));
    if (event.operation == TFD_OP_RENAME)
        event.offset = (int64_t)below(FILES);
    builder_event(spool, thread, event);
}

/* Who folds: the reader alone, the process a part of it, with recycled chunks, or the process all of it. */
enum kind { READER_FOLDS, PROCESS_FOLDS_SOME, PROCESS_FOLDS_ALL, KIND_COUNT };

static inline void build(const char *directory, enum kind kind, uint64_t calls)
{
    struct tfd_spool spool;
    builder_create(&spool, directory, 4u << 20);
    builder_mount(&spool, "/", 4096);
    for (int i = 0; i < FILES; i++)
        builder_file(&spool, "/some/file", 0);
    uint32_t threads[4];
    for (int i = 0; i < 4; i++)
        threads[i] = builder_thread(&spool, i);
    for (uint64_t i = 0; i < calls; i++)
        add_random_call(&spool, threads[below(4)], 100 * i);
    if (kind == PROCESS_FOLDS_ALL)
        CHECK_EQUAL(tfd_drain(&spool, UINT64_MAX), calls);
    if (kind == PROCESS_FOLDS_SOME) {
        CHECK_EQUAL(tfd_drain(&spool, calls / 3 * 2), calls / 3 * 2);
        tfd_thread_at(&spool, threads[0])->events_dropped = 100;
        /* as if killed while folding: the journal is in use, for what was not committed */
        struct fold_root *root = tfd_at(&spool, atomic_load(&spool.header->fold));
        tfd_journal_save(&spool, &root->journal, &root->totals, sizeof root->totals);
    }
    if (kind == PROCESS_FOLDS_ALL || below(2))
        builder_stop(&spool, 1000000);
    else
        tfd_spool_unmap(&spool);
}

static inline void read_everything(const char *path)
{
    struct tfd_reader *reader = tfd_reader_open(path);
    if (!reader) {
        CHECK(tfd_last_error()[0]);
        return;
    }
    struct tfd_spool_info info;
    struct tfd_thread_info thread;
    struct tfd_mount_info mount;
    struct tfd_failure failures[8];
    struct file_row row;
    CHECK(tfd_reader_info(reader, &info) == 0);
    size_t bytes = strlen(info.host) + strlen(info.command), length;
    for (uint64_t i = 0; i < info.threads; i++)
        CHECK(tfd_reader_thread(reader, i, &thread) == 0 && strlen(thread.name) < sizeof thread.name);
    for (uint64_t i = 0; i < info.mount_count; i++) {
        CHECK(tfd_reader_mount(reader, i, &mount) == 0);
        bytes += strlen(mount.point) + strlen(mount.fs_type) + strlen(mount.source);
    }
    for (uint64_t i = 0; next_row(reader, i, &row); i++) {
        const char *name = tfd_reader_path(reader, row.file, &length);
        for (size_t j = 0; name && j < length; j++)
            bytes += (unsigned char)name[j];
    }
    tfd_reader_failures(reader, failures, 8);
    static int64_t numbers[4][256];
    static int32_t tids[256];
    static uint32_t files[256];
    static int16_t errors[256];
    static uint8_t small[2][256];
    struct tfd_event_batch batch = {numbers[0], numbers[1], tids,       small[0],  small[1],
                                    errors,     files,      numbers[2], numbers[3]};
    uint64_t segments = 0;
    for (size_t rows; (rows = tfd_reader_events(reader, segments, 256, &batch)); segments += rows)
        ;
    CHECK(segments == info.segments && bytes + 1 > 0);
    tfd_reader_close(reader);
}

static inline char *load(const char *path, size_t *size)
{
    int fd = open(path, O_RDONLY);
    struct stat status;
    CHECK(fd >= 0 && fstat(fd, &status) == 0);
    struct tfd_spool_header header;
    CHECK(pread(fd, &header, sizeof header, 0) == sizeof header);
    *size = atomic_load(&header.used_bytes);
    char *bytes = malloc(*size);
    CHECK(bytes && pread(fd, bytes, *size, 0) == (ssize_t)*size);
    close(fd);
    return bytes;
}

#endif
