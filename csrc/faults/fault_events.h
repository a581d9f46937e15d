/* Page faults of all threads as perf events, and the rings that the kernel puts their samples into.
 *
 * For the calling thread's own table of descriptors, which nobody else sees: the events' descriptors stay open in
 * it. One caller at a time. */
#ifndef TFD_FAULT_EVENTS_H
#define TFD_FAULT_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spool/mapped_file.h"

/* One fault is two samples: when it begins, and when it ended without or with a wait for storage to begin one. */
enum tfd_fault_sample_kind { TFD_FAULT_BEGINS, TFD_FAULT_ENDS_MINOR, TFD_FAULT_ENDS_MAJOR, TFD_FAULT_KINDS };

struct tfd_fault_sample {
    int64_t time_ns; /* CLOCK_MONOTONIC */
    uint64_t address;
    int32_t tid;
    uint32_t kind;
};

/* Opens one event of a thread; on a processor (`cpu` below 0: on all) also of those that it starts. Its descriptor, or
 * -1. */
int tfd_fault_event_open(int32_t tid, int cpu, uint32_t kind, bool is_on);
/* Opens the events of all threads but the caller, which then go on in threads that these start, or, where there are
 * too many threads for that, in each alone. TFD_FAULTS_WATCHED, or why not, with `*error` an errno. */
enum tfd_fault_watch tfd_fault_events_open(int *error);
/* Whether all threads have been watched since then, with those that they started. */
bool tfd_fault_events_are_whole(void);
/* Open events cost each thread that a processor switches to or from, disabled ones a third as much: they are closed. */
void tfd_fault_events_close(void);
/* The parent's rings are not mapped in a child, and at their addresses is something else, or soon will be. */
void tfd_fault_events_reset_in_child(void);
/* Takes up threads that were started since, where events do not go on in them by themselves. */
void tfd_fault_events_follow_threads(void);
/* Gives what is in the rings, in no order, to `take`; adds to `*lost` what found no room there. */
void tfd_fault_events_drain(void (*take)(const struct tfd_fault_sample *sample), uint64_t *lost);

#endif
