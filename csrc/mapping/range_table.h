/* Which addresses are mapped files, and were: an address is soon used again, and what is learned late of a fault
 * must find the file that was there at the time. Times are CLOCK_MONOTONIC, in nanoseconds. */
#ifndef TFD_RANGE_TABLE_H
#define TFD_RANGE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TFD_RANGES_MAX 8192u

struct tfd_range {
    uintptr_t start, end;
    int64_t offset;           /* of the file, at `start` */
    int64_t begin_ns, end_ns; /* end_ns 0: it is still mapped */
    uint64_t file;            /* offset of its struct tfd_mapped_file; 0: the place is free */
};

/* Without the lock: false where no mapped file lies within [start, end). */
bool tfd_ranges_may_touch(uintptr_t start, uintptr_t end);
/* Something ended that could not be told: no range is to be trusted since then. From a signal handler too. */
void tfd_ranges_distrust(void);
/* True once after that. */
bool tfd_ranges_were_distrusted(void);

/* All below: one caller at a time. */
void tfd_ranges_reset(void);
/* False where the table is full. */
bool tfd_ranges_add(const struct tfd_range *range);
/* What lies within [start, end) is mapped no longer: ranges are cut, or split. */
void tfd_ranges_end(uintptr_t start, uintptr_t end, int64_t now_ns);
void tfd_ranges_end_all(int64_t now_ns);
/* The live range that `address` lies in, with its offset there; `file` 0: none. */
struct tfd_range tfd_ranges_live_at(uintptr_t address);
/* Frees those that ended before; none is needed longer where nobody watches. */
void tfd_ranges_forget(int64_t before_ns);
void tfd_ranges_keep_ended(bool keep);
/* Copies the ranges, live and ended. Returns their number, TFD_RANGES_MAX at most. */
size_t tfd_ranges_copy(struct tfd_range *out);
bool tfd_ranges_has_live(uint64_t file);
size_t tfd_ranges_live(void);

/* Of copies, which need no lock: puts them in order of their starts. */
void tfd_ranges_sort(struct tfd_range *copied, size_t count);
/* The range of that address at that time among copies in order; NULL: none. */
const struct tfd_range *tfd_range_at(const struct tfd_range *ranges, size_t count, uintptr_t address,
                                     int64_t time_ns);

#endif
