/* Events are open and closed in turn. If a fault spans both, its part in the open window counts, and it is a fault
 * if it ends there. A fault that goes on where its thread was touches the pages around it. Samples are made up. */
#define _GNU_SOURCE
#include "faults/fault_pairs.h"
#include "mapping/mapped_files.h"
#include "spool_builder.h"

#define PAGE 0x7000000000
#define RANGE_BYTES (1 << 20)
#define OTHER_PAGE (PAGE + RANGE_BYTES)
#define FAR (3 * RANGE_BYTES / 4)
#define OTHER_MEMORY 0x1000
#define LATE_NS 1000000

enum {
    WINDOW_NS = 1000,
    BEFORE_NS = 1500,
    WHOLE_NS = 2000,
    WHOLE_END_NS = 2300,
    LAST_NS = 2800,
    CLOSED_NS = 3000
};

static struct tfd_spool spool;
static struct tfd_mapped_files *totals;
static struct tfd_mapped_file *file, *other;
static struct tfd_range ranges[2];

static struct tfd_mapped_file *map(struct tfd_range *range, const char *path, uintptr_t start)
{
    bool is_new;
    *range = (struct tfd_range){.start = start, .end = start + RANGE_BYTES, .begin_ns = 1};
    range->file = tfd_mapped_file_of(&spool, builder_file(&spool, path, TFD_NO_MOUNT), &is_new);
    CHECK(range->file);
    return tfd_mapped_file_at(&spool, range->file);
}

static void make(const char *directory)
{
    builder_create(&spool, directory, 8 << 20);
    totals = tfd_mapped_files_of(&spool);
    CHECK(totals);
    file = map(&ranges[0], "/data/mapped", PAGE);
    other = map(&ranges[1], "/data/other", OTHER_PAGE);
}

static void sample(int32_t tid, int64_t time_ns, uint64_t address, enum tfd_fault_sample_kind kind)
{
    struct tfd_fault_sample taken = {.time_ns = time_ns, .address = address, .tid = tid, .kind = kind};
    tfd_fault_pairs_take(&taken);
}

static void work_up(void)
{
    tfd_fault_pairs_work(&spool, totals, ranges, 2, LATE_NS);
}

static void check_parts(void)
{
    tfd_fault_pairs_begin_window(WINDOW_NS);
    tfd_fault_pairs_begin_drain();
    sample(1, BEFORE_NS, PAGE, TFD_FAULT_ENDS_MAJOR); /* began before */
    sample(1, WHOLE_NS, PAGE, TFD_FAULT_BEGINS);
    sample(1, WHOLE_END_NS, PAGE, TFD_FAULT_ENDS_MINOR);
    sample(2, BEFORE_NS, OTHER_MEMORY, TFD_FAULT_ENDS_MINOR); /* is no file's */
    sample(2, LAST_NS, PAGE + 4096, TFD_FAULT_BEGINS);        /* and has no end */
    work_up();
    CHECK_EQUAL(file->faults, 2);
    CHECK_EQUAL(file->major_faults, 1);
    CHECK_EQUAL(file->wait_ns, BEFORE_NS - WINDOW_NS + WHOLE_END_NS - WHOLE_NS);
    tfd_fault_pairs_end_window(CLOSED_NS);
    CHECK_EQUAL(file->faults, 2);
    CHECK_EQUAL(file->wait_ns, BEFORE_NS - WINDOW_NS + WHOLE_END_NS - WHOLE_NS + CLOSED_NS - LAST_NS);
    CHECK_EQUAL(file->under_way, 0);
    CHECK_EQUAL(totals->unpaired, 0);
}

/* A sample was lost, or a thread is new: when that fault began nobody knows. */
static void check_unknown(void)
{
    int64_t before_ns = file->wait_ns;
    tfd_fault_pairs_begin_window(0);
    tfd_fault_pairs_begin_drain();
    sample(1, CLOSED_NS + BEFORE_NS, PAGE, TFD_FAULT_ENDS_MINOR);
    work_up();
    CHECK_EQUAL(file->wait_ns, before_ns);
    CHECK_EQUAL(totals->unpaired, 1);
}

/* A thread that has been seen within the window has its begins there, too. */
static void check_seen_before(void)
{
    int64_t before_ns = file->wait_ns;
    tfd_fault_pairs_end_window(CLOSED_NS);
    tfd_fault_pairs_begin_window(WINDOW_NS);
    tfd_fault_pairs_begin_drain();
    sample(3, WHOLE_NS, OTHER_MEMORY, TFD_FAULT_BEGINS);
    sample(3, WHOLE_END_NS, OTHER_MEMORY, TFD_FAULT_ENDS_MINOR);
    sample(3, LAST_NS, PAGE, TFD_FAULT_ENDS_MINOR);
    work_up();
    CHECK_EQUAL(file->wait_ns, before_ns);
    CHECK_EQUAL(totals->unpaired, 2);
}

static int64_t touched_by(int32_t tid, int64_t time_ns, uint64_t address)
{
    int64_t before = file->bytes_touched + other->bytes_touched;
    sample(tid, time_ns, address, TFD_FAULT_BEGINS);
    sample(tid, time_ns + 1, address, TFD_FAULT_ENDS_MINOR);
    work_up();
    return file->bytes_touched + other->bytes_touched - before;
}

static void check_touched(void)
{
    int64_t page = sysconf(_SC_PAGESIZE), around = 16 * page;
    tfd_fault_pairs_end_window(CLOSED_NS);
    tfd_fault_pairs_begin_window(WINDOW_NS);
    tfd_fault_pairs_begin_drain();
    CHECK_EQUAL(touched_by(4, 2000, PAGE), page);
    CHECK_EQUAL(touched_by(4, 2010, OTHER_PAGE + 4096), page); /* near in another file */
    CHECK_EQUAL(touched_by(4, 2020, PAGE + 4096), around);
    CHECK_EQUAL(touched_by(4, 2030, PAGE + FAR), page);
    CHECK_EQUAL(touched_by(5, 2040, PAGE + FAR + 4096), page); /* another thread reads elsewhere */
    CHECK_EQUAL(touched_by(4, 2050, PAGE + FAR + 4096), around);
}

int main(int argc, char **argv)
{
    CHECK(argc >= 2);
    make(argv[1]);
    check_parts();
    check_unknown();
    check_seen_before();
    check_touched();
    tfd_fault_pairs_reset();
    return 0;
}
