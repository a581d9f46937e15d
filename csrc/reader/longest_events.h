/* Keeps the longest of a stream of calls, within a bound. */
#ifndef TFD_LONGEST_EVENTS_H
#define TFD_LONGEST_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tfd_plane_event {
    int64_t start_ns, duration_ns, offset, length;
    uint64_t number; /* in order of start, over all threads */
    uint32_t file;
    int32_t tid;
    int16_t error;
    uint8_t operation;
};

struct tfd_longest {
    struct tfd_plane_event *events; /* up to twice the limit: then the shorter half goes */
    size_t count, capacity, limit;
    uint64_t seen;
    int64_t shortest_ns; /* that may still be among the longest */
};

/* False: no memory. Of calls that took equally long the earlier ones stay. */
bool tfd_longest_add(struct tfd_longest *longest, const struct tfd_plane_event *event);
/* Drops what is above the limit, and puts the rest in order of thread, then start. */
void tfd_longest_finish(struct tfd_longest *longest);
void tfd_longest_free(struct tfd_longest *longest);

#endif
