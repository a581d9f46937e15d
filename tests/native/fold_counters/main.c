/* Counters of short call sequences against values worked out by hand from Darshan's definitions. */
#define _GNU_SOURCE
#include <errno.h>

#include "reader/record_id.h"
#include "spool_builder.h"

#define MOUNT 0
#define BLOCK_SIZE 4096

static struct tfd_spool spool;
static const char *directory;
static uint32_t file, thread;
static uint64_t now;

/* A spool with one mount, file and thread. Each call below takes 10 ns, 10 ns after the one before. */
static void begin(void)
{
    builder_create(&spool, directory, 4u << 20);
    builder_mount(&spool, "/", BLOCK_SIZE);
    file = builder_file(&spool, "/data/a", MOUNT);
    thread = builder_thread(&spool, 1);
    now = 0;
}

static void call(enum tfd_operation operation, int64_t offset, int64_t length)
{
    now += 20;
    builder_call(&spool, thread, file, operation, offset, length, now - 10, now);
}

static void call_flagged(enum tfd_operation operation, int64_t offset, int64_t length, uint8_t flags,
                         int error)
{
    now += 20;
    builder_event(&spool, thread,
                  (struct tfd_event){BUILDER_START + now - 10, BUILDER_START + now, offset, length, file,
                                     (uint8_t)operation, flags, (uint16_t)error});
}

static struct tfd_reader *end(void)
{
    builder_stop(&spool, 1000000);
    return builder_open(directory);
}

static struct file_row only_row(struct tfd_reader *reader, uint8_t module)
{
    struct file_row row;
    CHECK(find_row(reader, file, module, &row));
    return row;
}

static void check_row(uint8_t module, const struct expected *expected, size_t count, int64_t size_bytes)
{
    struct tfd_reader *reader = end();
    struct file_row row = only_row(reader, module);
    check_counters(&row, expected, count);
    CHECK(row.size_bytes == size_bytes);
    tfd_reader_close(reader);
}

#define CHECK_ROW(module, size_bytes, ...)                                                                   \
    do {                                                                                                     \
        const struct expected expected[] = {__VA_ARGS__};                                                    \
        check_row(TFD_MODULE_##module, expected, sizeof expected / sizeof *expected, size_bytes);            \
    } while (0)
#define IS(name, value)                                                                                      \
    {                                                                                                        \
        TFD_COUNTER_##name, value                                                                            \
    }
#define ALIGNMENTS IS(POSIX_MEM_ALIGNMENT, 8), IS(POSIX_FILE_ALIGNMENT, BLOCK_SIZE)

static bool is_near(double a, double b)
{
    return a - b < 1e-15 && b - a < 1e-15;
}

/* What tf.io.read_file does with a file under 1 MiB. The first read, at offset 0, is neither sequential nor
 * consecutive; the empty one is both. */
static void test_whole_file_read(void)
{
    begin();
    call(TFD_OP_OPEN, 0, 0);
    call(TFD_OP_PREAD, 0, 5000);
    call(TFD_OP_PREAD, 5000, 0);
    call(TFD_OP_CLOSE, -1, 0);
    struct tfd_reader *reader = end();
    struct file_row row = only_row(reader, TFD_MODULE_POSIX);
    const struct expected expected[] = {
        IS(POSIX_OPENS, 1),
        IS(POSIX_READS, 2),
        IS(POSIX_BYTES_READ, 5000),
        IS(POSIX_MAX_BYTE_READ, 4999),
        IS(POSIX_CONSEC_READS, 1),
        IS(POSIX_SEQ_READS, 1),
        IS(POSIX_FILE_NOT_ALIGNED, 1),
        IS(POSIX_MAX_READ_TIME_SIZE, 5000),
        IS(POSIX_SIZE_READ_0_100, 1),
        IS(POSIX_SIZE_READ_1K_10K, 1),
        IS(POSIX_ACCESS1_ACCESS, 5000),
        IS(POSIX_ACCESS1_COUNT, 1),
        IS(TFD_ZERO_READS, 1),
        IS(TFD_ZERO_SEQ_READS, 1),
        IS(TFD_ZERO_CONSEC_READS, 1),
        ALIGNMENTS,
    };
    check_counters(&row, expected, sizeof expected / sizeof *expected);
    CHECK(row.size_bytes == 5000 && row.mount == MOUNT);
    CHECK(is_near(row.f_counters[TFD_COUNTER_POSIX_F_OPEN_START_TIMESTAMP], 10e-9));
    CHECK(is_near(row.f_counters[TFD_COUNTER_POSIX_F_OPEN_END_TIMESTAMP], 20e-9));
    CHECK(is_near(row.f_counters[TFD_COUNTER_POSIX_F_READ_START_TIMESTAMP], 30e-9));
    CHECK(is_near(row.f_counters[TFD_COUNTER_POSIX_F_READ_END_TIMESTAMP], 60e-9));
    CHECK(is_near(row.f_counters[TFD_COUNTER_POSIX_F_CLOSE_START_TIMESTAMP], 70e-9));
    CHECK(is_near(row.f_counters[TFD_COUNTER_POSIX_F_CLOSE_END_TIMESTAMP], 80e-9));
    CHECK(is_near(row.f_counters[TFD_COUNTER_POSIX_F_READ_TIME], 20e-9));
    CHECK(is_near(row.f_counters[TFD_COUNTER_POSIX_F_META_TIME], 20e-9));
    CHECK(is_near(row.f_counters[TFD_COUNTER_POSIX_F_MAX_READ_TIME], 10e-9));
    CHECK(row.f_counters[TFD_COUNTER_POSIX_F_WRITE_START_TIMESTAMP] == 0);
    struct tfd_spool_info info;
    CHECK(tfd_reader_info(reader, &info) == 0);
    CHECK(info.io_ns == 40 && info.read_ns == 20 && info.meta_ns == 20 && info.write_ns == 0);
    CHECK(info.events == 4 && info.segments == 4 && info.files == 1 && info.file_rows == 1);
    tfd_reader_close(reader);
}

/* read() goes on where the file's last access ended, on whatever descriptor; dup counts as an open but does
 * not rewind; close keeps the position, yet the next access is compared with byte 0. */
static void test_position_belongs_to_the_file(void)
{
    begin();
    call(TFD_OP_OPEN, 0644, 0);
    call(TFD_OP_PREAD, 100, 50); /* last byte 149 */
    call(TFD_OP_READ, 0, 10);    /* Darshan: at 150, consecutive */
    call(TFD_OP_DUP, -1, 0);
    call(TFD_OP_SEEK, 200, 0);
    call(TFD_OP_READ, 200, 8); /* at 200, gap 200-159-1 = 40 */
    call(TFD_OP_CLOSE, -1, 0);
    call(TFD_OP_READ, 208, 2); /* at 208, after byte 0: sequential, no gap */
    CHECK_ROW(POSIX, -1, IS(POSIX_OPENS, 2), IS(POSIX_DUPS, 1), IS(POSIX_READS, 4), IS(POSIX_SEEKS, 1),
              IS(POSIX_MODE, 0644), IS(POSIX_BYTES_READ, 70), IS(POSIX_MAX_BYTE_READ, 209),
              IS(POSIX_CONSEC_READS, 1), IS(POSIX_SEQ_READS, 4), IS(POSIX_FILE_NOT_ALIGNED, 4),
              IS(POSIX_MAX_READ_TIME_SIZE, 50), IS(POSIX_SIZE_READ_0_100, 4), IS(POSIX_STRIDE1_STRIDE, 40),
              IS(POSIX_STRIDE1_COUNT, 1), IS(POSIX_ACCESS1_ACCESS, 50), IS(POSIX_ACCESS2_ACCESS, 10),
              IS(POSIX_ACCESS3_ACCESS, 8), IS(POSIX_ACCESS4_ACCESS, 2), IS(POSIX_ACCESS1_COUNT, 1),
              IS(POSIX_ACCESS2_COUNT, 1), IS(POSIX_ACCESS3_COUNT, 1), IS(POSIX_ACCESS4_COUNT, 1), ALIGNMENTS);
}

/* 32 sizes are tracked, an empty read takes one place of them and is never shown: so size 132 is not seen. */
static void test_tracked_sizes_are_limited(void)
{
    begin();
    call(TFD_OP_PREAD, 0, 0);
    for (int64_t size = 101; size <= 132; size++)
        call(TFD_OP_PREAD, 0, size);
    for (int i = 0; i < 5; i++)
        call(TFD_OP_PREAD, 0, 132);
    call(TFD_OP_PREAD, 0, 110);
    call(TFD_OP_PREAD, 0, 120);
    CHECK_ROW(POSIX, -1, IS(POSIX_READS, 40), IS(POSIX_BYTES_READ, 32 * 233 / 2 + 5 * 132 + 230),
              IS(POSIX_MAX_BYTE_READ, 131), IS(POSIX_MAX_READ_TIME_SIZE, 0), IS(POSIX_SIZE_READ_0_100, 1),
              IS(POSIX_SIZE_READ_100_1K, 39), IS(POSIX_ACCESS1_ACCESS, 120), IS(POSIX_ACCESS1_COUNT, 2),
              IS(POSIX_ACCESS2_ACCESS, 110), IS(POSIX_ACCESS2_COUNT, 2), IS(POSIX_ACCESS3_ACCESS, 131),
              IS(POSIX_ACCESS3_COUNT, 1), IS(POSIX_ACCESS4_ACCESS, 130), IS(POSIX_ACCESS4_COUNT, 1),
              IS(TFD_ZERO_READS, 1), IS(POSIX_SEQ_READS, 1), IS(POSIX_CONSEC_READS, 1), ALIGNMENTS);
}

static void test_writes_and_switches(void)
{
    begin();
    call_flagged(TFD_OP_OPEN, 0600, 0, TFD_FLAG_TRUNCATE | TFD_FLAG_WRITABLE, 0);
    call(TFD_OP_WRITE, 0, 4096);
    call_flagged(TFD_OP_WRITE, 4096, 100, TFD_FLAG_MEM_UNALIGNED, 0);
    call(TFD_OP_PREAD, 0, 1048577);
    call(TFD_OP_PWRITE, 8192, 1024);
    call(TFD_OP_FSYNC, -1, 0);
    call(TFD_OP_FDATASYNC, -1, 0);
    struct tfd_reader *reader = end();
    struct file_row row = only_row(reader, TFD_MODULE_POSIX);
    const struct expected expected[] = {
        IS(POSIX_OPENS, 1),
        IS(POSIX_MODE, 0600),
        IS(POSIX_READS, 1),
        IS(POSIX_WRITES, 3),
        IS(POSIX_FSYNCS, 1),
        IS(POSIX_FDSYNCS, 1),
        IS(POSIX_BYTES_READ, 1048577),
        IS(POSIX_BYTES_WRITTEN, 5220),
        IS(POSIX_MAX_BYTE_READ, 1048576),
        IS(POSIX_MAX_BYTE_WRITTEN, 9215),
        IS(POSIX_CONSEC_WRITES, 1),
        IS(POSIX_SEQ_WRITES, 2),
        IS(POSIX_RW_SWITCHES, 2),
        IS(POSIX_MEM_NOT_ALIGNED, 1),
        IS(POSIX_MAX_READ_TIME_SIZE, 1048577),
        IS(POSIX_MAX_WRITE_TIME_SIZE, 4096),
        IS(POSIX_SIZE_READ_1M_4M, 1),
        IS(POSIX_SIZE_WRITE_0_100, 1),
        IS(POSIX_SIZE_WRITE_100_1K, 1),
        IS(POSIX_SIZE_WRITE_1K_10K, 1),
        IS(POSIX_STRIDE1_STRIDE, 8192 - 4195 - 1),
        IS(POSIX_STRIDE1_COUNT, 1),
        IS(POSIX_ACCESS1_ACCESS, 1048577),
        IS(POSIX_ACCESS2_ACCESS, 4096),
        IS(POSIX_ACCESS3_ACCESS, 1024),
        IS(POSIX_ACCESS4_ACCESS, 100),
        IS(POSIX_ACCESS1_COUNT, 1),
        IS(POSIX_ACCESS2_COUNT, 1),
        IS(POSIX_ACCESS3_COUNT, 1),
        IS(POSIX_ACCESS4_COUNT, 1),
        ALIGNMENTS,
    };
    check_counters(&row, expected, sizeof expected / sizeof *expected);
    CHECK(row.size_bytes == -1); /* it was opened for writing: others may write to it too */
    CHECK(is_near(row.f_counters[TFD_COUNTER_POSIX_F_WRITE_TIME], 50e-9));
    CHECK(is_near(row.f_counters[TFD_COUNTER_POSIX_F_WRITE_END_TIMESTAMP], 100e-9));
    tfd_reader_close(reader);
}

/* Calls of two threads at once: time in reads is their union. */
static void test_overlapping_reads_count_once(void)
{
    begin();
    uint32_t other = builder_thread(&spool, 2);
    builder_call(&spool, thread, file, TFD_OP_PREAD, 0, 10, 100, 300);
    builder_call(&spool, other, file, TFD_OP_PREAD, 0, 20, 200, 450);
    builder_call(&spool, other, file, TFD_OP_PREAD, 0, 30, 500, 510);
    struct tfd_reader *reader = end();
    struct file_row row = only_row(reader, TFD_MODULE_POSIX);
    CHECK(is_near(row.f_counters[TFD_COUNTER_POSIX_F_READ_TIME], 360e-9));
    CHECK(is_near(row.f_counters[TFD_COUNTER_POSIX_F_MAX_READ_TIME], 250e-9));
    CHECK(row.counters[TFD_COUNTER_POSIX_MAX_READ_TIME_SIZE] == 20);
    tfd_reader_close(reader);
}

/* Darshan counts a rename only of a file it has a record of: opened, or found by stat. */
static void test_rename(void)
{
    static const char source_path[] = "/data/a";
    begin();
    uint32_t first = file, target = builder_file(&spool, "/data/b", MOUNT);
    uint32_t unknown = builder_file(&spool, "/data/c", MOUNT);
    call(TFD_OP_STAT, -1, 77);
    call(TFD_OP_RENAME, target, 0);
    file = unknown;
    call(TFD_OP_RENAME, target, 0);
    struct tfd_reader *reader = end();
    struct file_row row;
    CHECK(find_row(reader, first, TFD_MODULE_POSIX, &row));
    const struct expected source[] = {IS(POSIX_STATS, 1), IS(POSIX_RENAME_SOURCES, 1), IS(TFD_RENAMES, 1),
                                      ALIGNMENTS};
    check_counters(&row, source, sizeof source / sizeof *source);
    CHECK(is_near(row.f_counters[TFD_COUNTER_POSIX_F_META_TIME], 20e-9) && row.size_bytes == 77);
    CHECK(find_row(reader, target, TFD_MODULE_POSIX, &row));
    /* Darshan's hash of "/data/a", see record_id.c */
    const struct expected renamed[] = {IS(POSIX_RENAME_TARGETS, 1),
                                       IS(POSIX_RENAMED_FROM, (int64_t)tfd_record_id(source_path, 7)),
                                       ALIGNMENTS};
    check_counters(&row, renamed, sizeof renamed / sizeof *renamed);
    CHECK(row.f_counters[TFD_COUNTER_POSIX_F_META_TIME] == 0 && row.size_bytes == 77);
    CHECK(find_row(reader, unknown, TFD_MODULE_POSIX, &row));
    const struct expected unseen[] = {IS(TFD_RENAMES, 1), ALIGNMENTS};
    check_counters(&row, unseen, sizeof unseen / sizeof *unseen);
    tfd_reader_close(reader);
}

/* Ids of real Darshan logs: example.darshan and dxt.darshan of PyDarshan 3.5.0. */
static void test_record_id(void)
{
    CHECK(tfd_record_id("<STDIN>", 7) == 14734109647742566553u);
    CHECK(tfd_record_id("<STDOUT>", 8) == 15920181672442173319u);
    CHECK(tfd_record_id("/tmp/test/macsio-log.log", 24) == 12580831639222665179u);
    const char *path =
        "/home/pq/p/software/darshan-pydarshan/darshan-util/pydarshan/examples/darshan-graph/B";
    CHECK(tfd_record_id(path, strlen(path)) == 4590908166289704079u);
}

static void test_calls_without_transfer(void)
{
    begin();
    call(TFD_OP_FILENO, -1, 0);
    call(TFD_OP_FSTAT, -1, 900);
    call(TFD_OP_STAT, -1, -1); /* a directory by now */
    call(TFD_OP_MMAP, 0, 8 << 20);
    call(TFD_OP_TRUNCATE, -1, 300);
    call(TFD_OP_UNLINK, -1, 0);
    call(TFD_OP_COPY_WRITE, 0, 2000);
    call(TFD_OP_COPY_READ, 0, 1000);
    CHECK_ROW(POSIX, -1, IS(POSIX_OPENS, 1), IS(POSIX_FILENOS, 1), IS(POSIX_STATS, 1), IS(POSIX_MMAPS, 1),
              IS(TFD_STATS_OTHER, 1), IS(TFD_MMAP_BYTES, 8 << 20), IS(TFD_TRUNCATES, 1), IS(TFD_UNLINKS, 1),
              IS(TFD_COPY_READS, 1), IS(TFD_COPY_READ_BYTES, 1000), IS(TFD_COPY_WRITES, 1),
              IS(TFD_COPY_WRITE_BYTES, 2000), ALIGNMENTS);
}

/* A close that fails counts as a close, in Darshan and here; nothing else that fails does. */
static void test_failures(void)
{
    begin();
    call_flagged(TFD_OP_OPEN, 0, 0, 0, ENOENT);
    call_flagged(TFD_OP_OPEN, 0, 0, 0, ENOENT);
    call_flagged(TFD_OP_PREAD, 0, 0, 0, EIO);
    call_flagged(TFD_OP_CLOSE, -1, 0, 0, EIO);
    uint32_t real = file;
    file = TFD_FILE_NONE;
    call_flagged(TFD_OP_WRITE, 0, 0, 0, EBADF);
    file = real;
    struct tfd_reader *reader = end();
    struct file_row row = only_row(reader, TFD_MODULE_POSIX);
    const struct expected expected[] = {IS(TFD_FAILED_CALLS, 4), ALIGNMENTS};
    check_counters(&row, expected, sizeof expected / sizeof *expected);
    CHECK(is_near(row.f_counters[TFD_COUNTER_POSIX_F_CLOSE_END_TIMESTAMP], 80e-9));
    CHECK(row.f_counters[TFD_COUNTER_POSIX_F_OPEN_END_TIMESTAMP] == 0);

    struct tfd_failure failures[8];
    uint64_t calls = 0;
    CHECK(tfd_reader_failures(reader, failures, 8) == 4);
    for (int i = 0; i < 4; i++) {
        calls += failures[i].calls;
        if (failures[i].operation == TFD_OP_OPEN)
            CHECK(failures[i].error == ENOENT && failures[i].calls == 2);
    }
    CHECK(calls == 5);
    struct tfd_spool_info info;
    CHECK(tfd_reader_info(reader, &info) == 0 && info.events == 5 && info.file_rows == 1);
    tfd_reader_close(reader);
}

/* A flush after reading moves STDIO_MAX_BYTE_WRITTEN; fread that returns nothing is no read for Darshan. */
static void test_stdio(void)
{
    begin();
    call(TFD_OP_FOPEN, 0, 0);
    call(TFD_OP_FREAD, 0, 100);
    call(TFD_OP_FREAD, 100, 0);
    call(TFD_OP_FFLUSH, -1, 0);
    call(TFD_OP_FSEEK, 40, 0);
    call(TFD_OP_FWRITE, 40, 30);
    call_flagged(TFD_OP_FWRITE, 70, 0, TFD_FLAG_EMPTY_COUNTS, 0);
    call(TFD_OP_FWRITE, 70, 0);
    call(TFD_OP_FDOPEN, -1, 0);
    call(TFD_OP_FWRITE, 70, 5);
    call(TFD_OP_FCLOSE, -1, 0);
    call_flagged(TFD_OP_FREAD, 75, 0, 0, EBADF);
    struct tfd_reader *reader = end();
    struct file_row row = only_row(reader, TFD_MODULE_STDIO);
    const struct expected expected[] = {
        IS(STDIO_OPENS, 2),          IS(STDIO_FDOPENS, 1),
        IS(STDIO_READS, 1),          IS(STDIO_WRITES, 3),
        IS(STDIO_SEEKS, 1),          IS(STDIO_FLUSHES, 1),
        IS(STDIO_BYTES_WRITTEN, 35), IS(STDIO_BYTES_READ, 100),
        IS(STDIO_MAX_BYTE_READ, 99), IS(STDIO_MAX_BYTE_WRITTEN, 99),
        IS(TFD_ZERO_READS, 1),       IS(TFD_FAILED_CALLS, 1),
    };
    check_counters(&row, expected, sizeof expected / sizeof *expected);
    CHECK(row.size_bytes == -1);
    CHECK(is_near(row.f_counters[TFD_COUNTER_STDIO_F_META_TIME], 40e-9));
    CHECK(is_near(row.f_counters[TFD_COUNTER_STDIO_F_WRITE_TIME], 40e-9));
    CHECK(is_near(row.f_counters[TFD_COUNTER_STDIO_F_READ_TIME], 10e-9));
    CHECK(is_near(row.f_counters[TFD_COUNTER_STDIO_F_WRITE_START_TIMESTAMP], 70e-9));
    CHECK(is_near(row.f_counters[TFD_COUNTER_STDIO_F_WRITE_END_TIMESTAMP], 200e-9));
    CHECK(is_near(row.f_counters[TFD_COUNTER_STDIO_F_OPEN_START_TIMESTAMP], 10e-9));
    CHECK(is_near(row.f_counters[TFD_COUNTER_STDIO_F_OPEN_END_TIMESTAMP], 180e-9));
    CHECK(is_near(row.f_counters[TFD_COUNTER_STDIO_F_CLOSE_END_TIMESTAMP], 220e-9));
    CHECK(!find_row(reader, file, TFD_MODULE_POSIX, &row));
    tfd_reader_close(reader);
}

/* Without a mount Darshan has no block size, and nothing is unaligned; a mount that was never asked has 4096. */
static void test_alignment(void)
{
    begin();
    builder_mount(&spool, "/never/asked", 0);
    uint32_t nowhere = builder_file(&spool, "/x", TFD_NO_MOUNT),
             unasked = builder_file(&spool, "/never/asked/y", 1);
    file = nowhere;
    call(TFD_OP_PREAD, 5, 5);
    file = unasked;
    call(TFD_OP_PREAD, 5, 5);
    struct tfd_reader *reader = end();
    struct file_row row;
    CHECK(find_row(reader, nowhere, TFD_MODULE_POSIX, &row) && row.mount == -1);
    CHECK(row.counters[TFD_COUNTER_POSIX_FILE_ALIGNMENT] == -1);
    CHECK(row.counters[TFD_COUNTER_POSIX_FILE_NOT_ALIGNED] == 0);
    CHECK(find_row(reader, unasked, TFD_MODULE_POSIX, &row) && row.mount == 1);
    CHECK(row.counters[TFD_COUNTER_POSIX_FILE_ALIGNMENT] == 4096);
    CHECK(row.counters[TFD_COUNTER_POSIX_FILE_NOT_ALIGNED] == 1);
    tfd_reader_close(reader);
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    directory = argv[1];
    test_whole_file_read();
    test_position_belongs_to_the_file();
    test_tracked_sizes_are_limited();
    test_writes_and_switches();
    test_overlapping_reads_count_once();
    test_rename();
    test_record_id();
    test_calls_without_transfer();
    test_failures();
    test_stdio();
    test_alignment();
    return 0;
}
