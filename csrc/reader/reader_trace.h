/* The trace of a spool without its counters, since folding takes longer than reading the trace. */
#ifndef TFD_READER_TRACE_H
#define TFD_READER_TRACE_H

#include "tfdarshan.h"

struct tfd_trace_info {
    uint64_t threads, events_dropped;
    int64_t start_realtime_ns, start_monotonic_ns;
    int64_t duration_ns; /* until now if the recording has not stopped */
    int64_t
        first_dropped_ns; /* start of the first call that is not in the trace; -1: the trace has all calls */
};

/* Open a reader of the trace only. It has no counters: do not ask it for info, files or failures. */
struct tfd_reader *tfd_reader_open_trace(const char *path);
/* For any reader. */
void tfd_reader_trace_info(struct tfd_reader *reader, struct tfd_trace_info *info);

#endif
