/* The trace of a spool whose counters nobody asks for: folding them takes longer than reading it. */
#ifndef TFD_READER_TRACE_H
#define TFD_READER_TRACE_H

#include "tfdarshan.h"

struct tfd_trace_info {
    uint64_t threads, events_dropped;
    int64_t start_realtime_ns;
    int64_t duration_ns; /* until now, where the recording has not stopped */
};

/* Of such a reader nobody may ask info, files or failures: it has no counters. */
struct tfd_reader *tfd_reader_open_trace(const char *path);
/* Of any reader. */
void tfd_reader_trace_info(struct tfd_reader *reader, struct tfd_trace_info *info);

#endif
