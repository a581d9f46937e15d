/* Keeps the longest calls of a stream, up to a limit. */
#ifndef TFD_LONGEST_EVENTS_H
#define TFD_LONGEST_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tfd_plane_event {
    int64_t start_ns, duration_ns, offset, length;
    int64_t stands_for_ns; /* of a thinned call: time in calls that it stands for; 0: another call */
    uint64_t number;       /* index in order of start, of all threads */
    uint32_t file;
    int32_t tid;
    int16_t error;
    uint8_t operation;
};

struct tfd_longest {
    struct tfd_plane_event *events; /* up to twice the limit; then the shorter half is dropped */
    size_t count, capacity, limit;
    uint64_t seen;
    int64_t shortest_ns; /* a shorter call is not among the longest */
};

/* Add a call; return false if there is no memory. Of calls with equal durations the earlier ones are kept. */
bool tfd_longest_add(struct tfd_longest *longest, const struct tfd_plane_event *event);
/* Drop the calls above the limit, and sort the rest by thread, then start. */
void tfd_longest_finish(struct tfd_longest *longest);
void tfd_longest_free(struct tfd_longest *longest);

#endif
