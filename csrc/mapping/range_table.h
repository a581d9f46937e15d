/* Which addresses are mapped files, and which were. An address is soon used again, and what is learned late of a fault
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

/* Return false if no mapped file lies within [start, end). Needs no lock. */
bool tfd_ranges_may_touch(uintptr_t start, uintptr_t end);
/* Note that a mapping may have ended unseen, so that no range can be trusted. A signal handler may call this. */
void tfd_ranges_distrust(void);
/* Return true once after that. */
bool tfd_ranges_were_distrusted(void);

/* One caller at a time for all functions below. */
void tfd_ranges_reset(void);
/* Return false if the table is full. */
bool tfd_ranges_add(const struct tfd_range *range);
/* End what lies within [start, end): ranges are cut or split. */
void tfd_ranges_end(uintptr_t start, uintptr_t end, int64_t now_ns);
void tfd_ranges_end_all(int64_t now_ns);
/* Return the live range that `address` lies in, with its offset there; `file` is 0 if there is none. */
struct tfd_range tfd_ranges_live_at(uintptr_t address);
/* Free ranges that ended before; without a watcher ended ranges are not kept. */
void tfd_ranges_forget(int64_t before_ns);
void tfd_ranges_keep_ended(bool keep);
/* Copy the ranges, live and ended; return their number, TFD_RANGES_MAX at most. */
size_t tfd_ranges_copy(struct tfd_range *out);
bool tfd_ranges_has_live(uint64_t file);
size_t tfd_ranges_live(void);

/* Sort copied ranges by their starts. Needs no lock. */
void tfd_ranges_sort(struct tfd_range *copied, size_t count);
/* Return the range of an address at a time among sorted copies, NULL if there is none. Needs no lock. */
const struct tfd_range *tfd_range_at(const struct tfd_range *ranges, size_t count, uintptr_t address,
                                     int64_t time_ns);

#endif
