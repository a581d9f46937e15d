/* Ranges are cut, ended and forgotten. A table that was reset has none of the session before. */
#define _GNU_SOURCE
#include "check.h"
#include "mapping/range_table.h"

enum { FILE_A = 64, FILE_B = 128, START = 0x100000, PAGE = 0x1000, BEGIN_NS = 10, END_NS = 20 };

static struct tfd_range copied[TFD_RANGES_MAX];

static void add(uint64_t file, long first_page, long pages)
{
    struct tfd_range range = {.file = file, .begin_ns = BEGIN_NS};
    range.start = START + (uintptr_t)(first_page * PAGE);
    range.end = range.start + (uintptr_t)(pages * PAGE);
    CHECK(tfd_ranges_add(&range));
}

static struct tfd_range live_at(long page)
{
    return tfd_ranges_live_at(START + (uintptr_t)(page * PAGE));
}

static const struct tfd_range *copied_at(long page, int64_t time_ns)
{
    size_t count = tfd_ranges_copy(copied);
    tfd_ranges_sort(copied, count);
    return tfd_range_at(copied, count, START + (uintptr_t)(page * PAGE), time_ns);
}

static void begin(void)
{
    tfd_ranges_reset();
    tfd_ranges_keep_ended(true);
}

static void check_cut(void)
{
    begin();
    add(FILE_A, 0, 8);
    tfd_ranges_end(START + 2 * PAGE, START + 3 * PAGE, END_NS);
    CHECK_EQUAL(tfd_ranges_live(), 2);
    CHECK_EQUAL(live_at(1).file, FILE_A);
    CHECK_EQUAL(live_at(2).file, 0);
    CHECK_EQUAL(live_at(3).file, FILE_A);
    CHECK_EQUAL(live_at(5).offset, 5 * PAGE);
    CHECK_EQUAL(live_at(8).file, 0);
}

/* The kernel reuses an address: which file a fault was on depends on its time. */
static void check_times(void)
{
    begin();
    add(FILE_A, 0, 1);
    tfd_ranges_end(START, START + PAGE, END_NS);
    struct tfd_range later = {.start = START, .end = START + PAGE, .begin_ns = END_NS, .file = FILE_B};
    CHECK(tfd_ranges_add(&later));
    CHECK(!copied_at(0, BEGIN_NS - 1));
    CHECK_EQUAL(copied_at(0, BEGIN_NS)->file, FILE_A);
    CHECK_EQUAL(copied_at(0, END_NS)->file, FILE_B);
    tfd_ranges_forget(END_NS);
    CHECK_EQUAL(copied_at(0, BEGIN_NS)->file, FILE_A);
    tfd_ranges_forget(END_NS + 1);
    CHECK(!copied_at(0, BEGIN_NS));
    CHECK_EQUAL(copied_at(0, END_NS)->file, FILE_B);
    CHECK(tfd_ranges_has_live(FILE_B) && !tfd_ranges_has_live(FILE_A));
}

static void check_reset(void)
{
    begin();
    add(FILE_A, 0, 1);
    tfd_ranges_end_all(END_NS);
    CHECK(!tfd_ranges_may_touch(START, START + PAGE));
    tfd_ranges_reset();
    tfd_ranges_forget(END_NS + 1);
    add(FILE_B, 0, 1);
    add(FILE_B, 1, 1);
    CHECK_EQUAL(tfd_ranges_copy(copied), 2);
    CHECK(tfd_ranges_may_touch(START + PAGE, START + 2 * PAGE));
}

int main(void)
{
    check_cut();
    check_times();
    check_reset();
    return 0;
}
