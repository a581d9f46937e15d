/* Page faults of all threads as perf events, and the rings that the kernel puts their samples into.
 *
 * The events' descriptors stay open in the calling thread's own table, which no other thread sees. One caller at a
 * time. */
#ifndef TFD_FAULT_EVENTS_H
#define TFD_FAULT_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spool/mapped_file.h"

/* A fault has two samples: its beginning, and its end without (minor) or with (major) a wait for storage. */
enum tfd_fault_sample_kind { TFD_FAULT_BEGINS, TFD_FAULT_ENDS_MINOR, TFD_FAULT_ENDS_MAJOR, TFD_FAULT_KINDS };

struct tfd_fault_sample {
    int64_t time_ns; /* CLOCK_MONOTONIC */
    uint64_t address;
    int32_t tid;
    uint32_t kind;
};

/* Open one event of a thread on processor `cpu`, on all if it is negative, and of threads that this thread starts;
 * return its descriptor or -1. */
int tfd_fault_event_open(int32_t tid, int cpu, uint32_t kind, bool is_on);
/* Open the events of all threads but the caller; return TFD_FAULTS_WATCHED, or why they cannot be, with an errno in
 * `*error`. Threads that these start inherit the events, unless there are too many threads. */
enum tfd_fault_watch tfd_fault_events_open(int *error);
/* Return true if all threads have been watched since then, also those that were started. */
bool tfd_fault_events_are_whole(void);
/* Close the events: open ones cost each thread at every context switch, and disabled ones still a third of that. */
void tfd_fault_events_close(void);
/* Forget the parent's rings: they are not mapped in a child, whose addresses may be used otherwise. */
void tfd_fault_events_reset_in_child(void);
/* Open the events of threads that were started since, if they do not inherit them. */
void tfd_fault_events_follow_threads(void);
/* Call `take` with each sample in the rings, unordered; add to `*lost` the samples that found no room there. */
void tfd_fault_events_drain(void (*take)(const struct tfd_fault_sample *sample), uint64_t *lost);

#endif
