/* What a reader gives of whole, unfinished, recycled and foreign spools. */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "counters/fold_state.h"
#include "reader/reader_state.h"
#include "spool_builder.h"

static const char *directory;

static struct tfd_spool_info info_of(struct tfd_reader *reader)
{
    struct tfd_spool_info info;
    CHECK(tfd_reader_info(reader, &info) == 0);
    return info;
}

/* ---- segments ---- */

#define MOST_SEGMENTS 4096

static struct {
    int64_t start_ns[MOST_SEGMENTS], end_ns[MOST_SEGMENTS], offset[MOST_SEGMENTS], length[MOST_SEGMENTS];
    int32_t tid[MOST_SEGMENTS];
    uint8_t operation[MOST_SEGMENTS], flags[MOST_SEGMENTS];
    int16_t error[MOST_SEGMENTS];
    uint32_t file[MOST_SEGMENTS];
} got;

static size_t read_segments(struct tfd_reader *reader, uint64_t first, size_t rows)
{
    struct tfd_event_batch batch = {got.start_ns + first,  got.end_ns + first, got.tid + first,
                                    got.operation + first, got.flags + first,  got.error + first,
                                    got.file + first,      got.offset + first, got.length + first};
    return tfd_reader_events(reader, first, rows, &batch);
}

/* A call that a signal handler interrupts ends after the handler's calls, and is recorded after them. */
static void test_segments_are_sorted_by_start(void)
{
    struct tfd_spool spool;
    builder_create(&spool, directory, 4u << 20);
    uint32_t file = builder_file(&spool, "/a", TFD_NO_MOUNT);
    uint32_t threads[3];
    for (int i = 0; i < 3; i++)
        threads[i] = builder_thread(&spool, 100 + i);
    size_t calls = 0;
    for (uint64_t i = 0; i < 1000; i++) {
        uint64_t now = 1000 * i, length = 1 + calls++;
        uint32_t thread = threads[i % 3];
        if (i % 10 == 7) { /* two calls within a third */
            builder_call(&spool, thread, file, TFD_OP_WRITE, 0, 7, now + 300, now + 310);
            builder_call(&spool, thread, file, TFD_OP_WRITE, 0, 7, now + 320, now + 330);
            calls += 2;
        }
        builder_call(&spool, thread, file, TFD_OP_PREAD, (int64_t)(1ull << 41), (int64_t)length, now,
                     now + 900);
    }
    builder_stop(&spool, 5000000);
    struct tfd_reader *reader = builder_open(directory);
    CHECK(info_of(reader).segments == calls && calls == 1200);

    size_t seen = 0;
    for (size_t rows; (rows = read_segments(reader, seen, 37)); seen += rows)
        ;
    CHECK(seen == calls);
    size_t nested = 0;
    for (size_t i = 0; i < seen; i++) {
        CHECK(i == 0 || got.start_ns[i] >= got.start_ns[i - 1]);
        CHECK(got.end_ns[i] - got.start_ns[i] == (got.operation[i] == TFD_OP_PREAD ? 900 : 10));
        CHECK(got.tid[i] == 100 + (int32_t)(got.start_ns[i] / 1000 % 3));
        CHECK(got.file[i] == file && got.error[i] == 0 && got.flags[i] == 0);
        CHECK(got.offset[i] == (got.operation[i] == TFD_OP_PREAD ? (int64_t)1 << 41 : 0));
        nested += got.operation[i] == TFD_OP_WRITE;
    }
    CHECK(nested == 200);
    CHECK(read_segments(reader, calls, 1) == 0);
    CHECK(read_segments(reader, 5, 1) == 1 && got.start_ns[5] == 5000); /* any page can be asked for again */
    tfd_reader_close(reader);
}

/* ---- processes that fold and recycle ---- */

/* As tfd_next_chunk() of the recorder does. */
static void recycle(struct tfd_spool *spool, uint32_t thread_index)
{
    struct tfd_thread *thread = tfd_thread_at(spool, thread_index);
    struct tfd_chunk *chunk = tfd_at(spool, thread->current_chunk);
    while (atomic_load(&chunk->folded) < tfd_chunk_count(chunk))
        CHECK(tfd_drain(spool, 100) > 0);
    thread->events_dropped += tfd_chunk_events(chunk);
    atomic_store(&chunk->fill, 0);
    atomic_store(&chunk->folded, 0);
}

static void add_recycled_call(struct tfd_spool *spool, uint32_t thread, struct tfd_event event)
{
    struct tfd_chunk *chunk = tfd_at(spool, tfd_thread_at(spool, thread)->current_chunk);
    if (tfd_chunk_append(chunk, &event))
        return;
    recycle(spool, thread);
    CHECK(tfd_chunk_append(chunk, &event));
}

static void test_recycled_events_are_counted(void)
{
    struct tfd_spool spool;
    builder_create(&spool, directory, 8u << 20);
    uint32_t file = builder_file(&spool, "/a", TFD_NO_MOUNT);
    uint32_t kept = builder_thread(&spool, 1), thread = builder_thread(&spool, 2);
    builder_chunk(&spool, thread, 100, false);
    for (uint64_t i = 0; i < 20000; i++) {
        uint64_t now = BUILDER_START + 100 * i;
        add_recycled_call(&spool, thread,
                          (struct tfd_event){now, now + 10, (int64_t)(8 * i), 8, file, TFD_OP_PREAD, 0, 0});
        if (i < 600)
            builder_call(&spool, kept, file, TFD_OP_PREAD, 0, 8, 100 * i + 50, 100 * i + 55);
    }
    uint64_t dropped = tfd_thread_at(&spool, thread)->events_dropped;
    CHECK(dropped > 19000 && dropped < 20000);
    builder_stop(&spool, 2000000);

    struct tfd_reader *reader = builder_open(directory);
    struct tfd_spool_info info = info_of(reader);
    CHECK(info.events == 20600 && info.segments == 600 && info.events_dropped == 20000 && !info.damaged);
    CHECK(info.read_ns == 20000 * 10 + 600 * 5 && info.io_ns == info.read_ns);
    struct file_row row;
    CHECK(find_row(reader, file, TFD_MODULE_POSIX, &row));
    CHECK(row.counters[TFD_COUNTER_POSIX_READS] == 20600);
    CHECK(row.counters[TFD_COUNTER_POSIX_BYTES_READ] == 8 * 20600);
    CHECK(row.counters[TFD_COUNTER_POSIX_MAX_BYTE_READ] == 8 * 20000 - 1);
    CHECK(fabs(row.f_counters[TFD_COUNTER_POSIX_F_READ_TIME] - 203e-6) < 1e-12);
    struct tfd_thread_info thread_info;
    CHECK(tfd_reader_thread(reader, thread, &thread_info) == 0);
    CHECK(thread_info.events == 20000 && thread_info.events_dropped == 20000 && thread_info.tid == 2);
    CHECK(tfd_reader_thread(reader, kept, &thread_info) == 0);
    CHECK(thread_info.events == 600 && thread_info.events_dropped == 0);
    tfd_reader_close(reader);
}

/* An arena without room for a new file's counters leaves the counters as they were. */
static void test_full_arena(void)
{
    struct tfd_spool spool;
    builder_create(&spool, directory, 256u << 10);
    uint32_t files[2] = {builder_file(&spool, "/a", TFD_NO_MOUNT), builder_file(&spool, "/b", TFD_NO_MOUNT)};
    uint32_t thread = builder_thread(&spool, 1);
    builder_call(&spool, thread, files[0], TFD_OP_PREAD, 0, 8, 10, 20);
    CHECK(tfd_drain(&spool, UINT64_MAX) == 1);
    builder_call(&spool, thread, files[1], TFD_OP_PREAD, 0, 8, 30, 40);
    while (tfd_arena_allocate(&spool, 4096))
        ;
    while (tfd_arena_allocate(&spool, 16))
        ;
    CHECK(tfd_drain(&spool, UINT64_MAX) == -1);
    CHECK(tfd_drain(&spool, UINT64_MAX) == -1);
    tfd_thread_at(&spool, thread)->events_dropped = 1; /* the reader goes on from what was folded */
    builder_stop(&spool, 1000);
    struct tfd_reader *reader = builder_open(directory);
    CHECK(info_of(reader).events == 2 && info_of(reader).file_rows == 2 && info_of(reader).read_ns == 20);
    tfd_reader_close(reader);
}

/* ---- memory ---- */

#define MANY_FILES 20000

static void test_memory_of_a_file_read_once(void)
{
    struct tfd_spool spool;
    builder_create(&spool, directory, 64u << 20);
    uint32_t thread = builder_thread(&spool, 1);
    for (uint64_t i = 0; i < MANY_FILES; i++) {
        char path[32];
        snprintf(path, sizeof path, "/data/%llu", (unsigned long long)i);
        uint32_t file = builder_file(&spool, path, TFD_NO_MOUNT);
        uint64_t now = 100 * i;
        builder_call(&spool, thread, file, TFD_OP_OPEN, 0, 0, now, now + 10);
        builder_call(&spool, thread, file, TFD_OP_PREAD, 0, 5000, now + 20, now + 30);
        builder_call(&spool, thread, file, TFD_OP_PREAD, 5000, 0, now + 40, now + 50);
        builder_call(&spool, thread, file, TFD_OP_CLOSE, -1, 0, now + 60, now + 70);
    }
    uint64_t before = atomic_load(&spool.header->used_bytes);
    CHECK(tfd_drain(&spool, UINT64_MAX) == 4 * MANY_FILES);
    uint64_t bytes = atomic_load(&spool.header->used_bytes) - before;
    /* the unions' rings and what they grew from do not depend on the number of files */
    uint64_t rings = TFD_UNION_COUNT * 2 * TFD_RECORDER_INTERVALS * sizeof(struct interval);
    CHECK(bytes <= 420u * MANY_FILES + rings);
    builder_stop(&spool, 10000000);
    struct tfd_reader *reader = builder_open(directory);
    CHECK(info_of(reader).files == MANY_FILES && info_of(reader).file_rows == MANY_FILES);
    CHECK(info_of(reader).io_ns == 4 * 10 * MANY_FILES);
    tfd_reader_close(reader);
}

/* What a process folded to its end is read where it is: a second set of counters would break the memory cap. */
static void test_finished_counters_stay_in_place(void)
{
    struct tfd_spool spool;
    builder_create(&spool, directory, 64u << 20);
    uint32_t thread = builder_thread(&spool, 1);
    for (uint64_t i = 0; i < MANY_FILES; i++) {
        uint32_t file = builder_file(&spool, "/data/a", TFD_NO_MOUNT);
        builder_call(&spool, thread, file, TFD_OP_PREAD, 0, 5000, 100 * i, 100 * i + 10);
    }
    tfd_fold_finish(&spool); /* nothing was folded: the reader has that to do */
    CHECK(atomic_load(&spool.header->files_folded) == 0);
    CHECK(tfd_drain(&spool, 5) == 5);
    tfd_fold_finish(&spool);
    CHECK(atomic_load(&spool.header->files_folded) == MANY_FILES);
    builder_stop(&spool, 10000000);

    struct tfd_reader *reader = builder_open(directory);
    struct tfd_spool_info info = info_of(reader);
    CHECK(info.events == MANY_FILES && info.segments == MANY_FILES && info.file_rows == MANY_FILES);
    CHECK(info.io_ns == 10 * MANY_FILES && !info.damaged);
    struct file_row row;
    CHECK(next_row(reader, MANY_FILES - 1, &row) && row.counters[TFD_COUNTER_POSIX_BYTES_READ] == 5000);
    CHECK(read_segments(reader, 0, 10) == 10 && got.length[9] == 5000);
    uint64_t own_bytes = atomic_load(&reader->image.spool.header->used_bytes) - reader->image.limit;
    CHECK(own_bytes <= sizeof(struct fold_root) + 4096);
    tfd_reader_close(reader);
}

/* ---- what else is in a spool ---- */

static void test_threads_mounts_and_paths(void)
{
    struct tfd_spool spool;
    builder_create(&spool, directory, 4u << 20);
    builder_mount(&spool, "/", 4096);
    builder_mount(&spool, "/data", 1 << 20);
    uint32_t odd = builder_file(&spool, "/data/\xff name\n", 1);
    uint32_t thread = builder_thread(&spool, 7);
    tfd_thread_at(&spool, thread)->other[TFD_OTHER_PIPE] = (struct tfd_other_traffic){1, 2, 3, 4, 5};
    builder_call(&spool, thread, TFD_FILE_OVERFLOW, TFD_OP_PREAD, 0, 8, 10, 20);
    builder_call(&spool, thread, TFD_FILE_NONE, TFD_OP_FFLUSH, -1, 0, 30, 40);
    atomic_store(&spool.header->files_over_cap, 3);
    spool.header->trace_limit_bytes = 1u << 20;
    spool.header->kernel_start = (struct tfd_kernel_io){1, 2, 3, 4, 5, 6, 7, 8, 1};
    spool.header->kernel_stop = (struct tfd_kernel_io){11, 22, 33, 44, 55, 66, 77, 88, 1};
    builder_stop(&spool, 2000);

    struct tfd_reader *reader = builder_open(directory);
    struct tfd_spool_info info = info_of(reader);
    CHECK(info.pid == (int32_t)getpid() && info.stopped && info.duration_ns == 2000 && info.mount_count == 2);
    CHECK(!strcmp(info.host, "host") && !strcmp(info.command, "command"));
    CHECK(info.start_realtime_ns == 1700000000000000000 && info.files == 1 && info.files_over_cap == 3);
    CHECK(info.kernel_valid && info.rchar == 10 && info.wchar == 20 && info.write_bytes == 60);
    CHECK(info.own_rchar == 77 && info.own_wchar == 88 && !info.uncounted);
    CHECK(info.events == 2 && info.file_rows == 1 && info.io_ns == 20 && info.write_ns == 10);
    CHECK(info.first_event_ns == 10 && info.last_event_ns == 40);
    CHECK(info.capacity_bytes == 4u << 20 && info.trace_limit_bytes == 1u << 20);
    struct tfd_thread_info thread_info;
    CHECK(tfd_reader_thread(reader, 0, &thread_info) == 0 && !strcmp(thread_info.name, "t7"));
    CHECK(thread_info.other[TFD_OTHER_PIPE][1] == 2 && thread_info.other[TFD_OTHER_PIPE][4] == 5);
    CHECK(tfd_reader_thread(reader, 1, &thread_info) == -EINVAL);
    struct tfd_mount_info mount;
    CHECK(tfd_reader_mount(reader, 1, &mount) == 0 && !strcmp(mount.point, "/data"));
    CHECK(!strcmp(mount.fs_type, "ext4") && !strcmp(mount.source, "disk") && mount.block_size == 1 << 20);
    CHECK(tfd_reader_mount(reader, 2, &mount) == -EINVAL);
    size_t length;
    const char *path = tfd_reader_path(reader, odd, &length);
    CHECK(path && length == 13 && !memcmp(path, "/data/\xff name\n", length));
    CHECK(!tfd_reader_path(reader, TFD_FILE_OVERFLOW, &length) && length == 0);
    CHECK(!tfd_reader_path(reader, odd + 1, &length));
    tfd_reader_close(reader);
}

/* 3 ticks a nanosecond; a process that was killed has only the samples of its start. */
static void test_ticks_without_a_stop(void)
{
    struct tfd_spool spool;
    builder_create(&spool, directory, 4u << 20);
    struct tfd_spool_header *header = spool.header;
    header->calibration = (struct tfd_clock_sample){3000, 5000000, 0};
    header->start = (struct tfd_clock_sample){3000 + 3 * 20000000ull, 5000000 + 20000000, 20000000};
    uint32_t file = builder_file(&spool, "/a", TFD_NO_MOUNT), thread = builder_thread(&spool, 1);
    uint64_t start = header->start.ticks;
    builder_event(&spool, thread,
                  (struct tfd_event){start + 300, start + 3000000, 0, 5, file, TFD_OP_PREAD, 0, 0});
    builder_event(&spool, thread, /* begun before the session */
                  (struct tfd_event){start - 300, start + 3000300, 0, 5, file, TFD_OP_PREAD, 0, 0});
    tfd_spool_unmap(&spool);
    struct tfd_reader *reader = builder_open(directory);
    struct tfd_spool_info info = info_of(reader);
    CHECK(!info.stopped && info.duration_ns == 1000100 && info.last_event_ns == 1000100);
    CHECK(info.first_event_ns == -100 && info.read_ns == 1000200 && !info.kernel_valid);
    CHECK(read_segments(reader, 0, 10) == 2);
    CHECK(got.start_ns[0] == -100 && got.end_ns[0] == 1000100 && got.start_ns[1] == 100);
    tfd_reader_close(reader);
}

/* Where a spool says too little of its ticks, a reader looks at this process's clock. The process may record, and goes on with
 * the clock that it began with, whatever the kernel trusts by then. */
static void test_clock_of_the_process_stays(void)
{
    struct tfd_spool spool;
    tfd_clock_initialize();
    bool begun_with = !atomic_load(&tfd_clock_uses_tsc);
    atomic_store(&tfd_clock_uses_tsc, begun_with);
    builder_create(&spool, directory, 4u << 20);
    spool.header->start.ticks += 1000;
    spool.header->calibration = spool.header->start;
    builder_file(&spool, "/a", TFD_NO_MOUNT);
    builder_thread(&spool, 1);
    tfd_spool_unmap(&spool);
    tfd_reader_close(builder_open(directory));
    CHECK_EQUAL(atomic_load(&tfd_clock_uses_tsc), begun_with);
    atomic_store(&tfd_clock_uses_tsc, !begun_with);
}

/* ---- what is no spool ---- */

static void write_file(const char *path, const void *bytes, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK(fd >= 0 && write(fd, bytes, size) == (ssize_t)size && close(fd) == 0);
}

static void check_refused(const char *path, const char *reason)
{
    CHECK(!tfd_reader_open(path));
    if (strstr(tfd_last_error(), reason) && strstr(tfd_last_error(), path))
        return;
    fprintf(stderr, "the error does not say \"%s\": %s\n", reason, tfd_last_error());
    exit(1);
}

static void test_refusals(void)
{
    char path[TFD_SPOOL_PATH_MAX];
    snprintf(path, sizeof path, "%s/other.spool", directory);
    unlink(path);
    check_refused(path, "No such file");
    check_refused(directory, "no regular file");
    write_file(path, "", 0);
    check_refused(path, "too short");
    static struct tfd_spool_header header;
    write_file(path, &header, sizeof header);
    check_refused(path, "holds nothing");
    memcpy(header.magic, "something else", 8);
    write_file(path, &header, sizeof header);
    check_refused(path, "is not a spool");
    memcpy(header.magic, TFD_SPOOL_MAGIC, 8);
    header.version = TFD_SPOOL_VERSION + 1;
    write_file(path, &header, 16); /* a newer header may be of any size */
    check_refused(path, "newer tfdarshan");
    header.version = TFD_OLDEST_SPOOL_VERSION - 1;
    write_file(path, &header, 16);
    check_refused(path, "older tfdarshan (spool version 9, this one reads version 10 and later)");
    header.version = TFD_SPOOL_VERSION;
    header.place_bytes = 1;
    write_file(path, &header, sizeof header);
    check_refused(path, "damaged");
}

/* A spool whose end is missing gives what is left. */
static void test_truncated_spool(void)
{
    struct tfd_spool spool;
    builder_create(&spool, directory, 4u << 20);
    uint32_t file = builder_file(&spool, "/a", TFD_NO_MOUNT), thread = builder_thread(&spool, 1);
    for (uint64_t i = 0; i < 2000; i++)
        builder_call(&spool, thread, file, TFD_OP_PREAD, 0, 8, 10 * i, 10 * i + 5);
    uint64_t used = atomic_load(&spool.header->used_bytes);
    builder_stop(&spool, 100000);
    char path[TFD_SPOOL_PATH_MAX];
    snprintf(path, sizeof path, "%s/%d.spool", directory, (int)getpid());
    CHECK(truncate(path, (off_t)(used - 10000)) == 0);
    struct tfd_reader *reader = builder_open(directory);
    struct tfd_spool_info info = info_of(reader);
    CHECK(info.damaged && info.events > 1000 && info.events < 2000 && info.segments == info.events);
    struct file_row row;
    CHECK(next_row(reader, 0, &row) && row.counters[TFD_COUNTER_POSIX_READS] == (int64_t)info.events);
    tfd_reader_close(reader);
}

static void test_names(void)
{
    CHECK(tfd_counter_count() == 69 + 14 + 14 + 7 && tfd_f_counter_count() == 17 + 15 + 2 + 5);
    CHECK(!strcmp(tfd_counter_name(0), "POSIX_OPENS") && !strcmp(tfd_counter_name(69), "STDIO_OPENS"));
    CHECK(!strcmp(tfd_f_counter_name(17), "STDIO_F_META_TIME") && !strcmp(tfd_f_counter_unit(0), "s"));
    for (size_t i = 0; i < tfd_counter_count(); i++)
        CHECK(tfd_counter_name(i)[0] && tfd_counter_unit(i)[0] && tfd_counter_meaning(i)[0]);
    for (size_t i = 0; i < tfd_f_counter_count(); i++)
        CHECK(tfd_f_counter_name(i)[0] && tfd_f_counter_unit(i)[0] && tfd_f_counter_meaning(i)[0]);
    CHECK(!tfd_counter_name(tfd_counter_count()) && !tfd_f_counter_name(tfd_f_counter_count()));
    CHECK(!strcmp(tfd_operation_name(TFD_OP_PREAD), "pread"));
    CHECK(!strcmp(tfd_operation_module(TFD_OP_FWRITE), "STDIO"));
    CHECK(!strcmp(tfd_operation_class(TFD_OP_FSYNC), "write"));
    CHECK(!tfd_operation_name(tfd_operation_count()));
    CHECK(!strcmp(tfd_other_kind_name(TFD_OTHER_SKIPPED), "skipped"));
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    directory = argv[1];
    test_segments_are_sorted_by_start();
    test_recycled_events_are_counted();
    test_full_arena();
    test_memory_of_a_file_read_once();
    test_finished_counters_stay_in_place();
    test_threads_mounts_and_paths();
    test_ticks_without_a_stop();
    test_clock_of_the_process_stays();
    test_refusals();
    test_truncated_spool();
    test_names();
    return 0;
}
