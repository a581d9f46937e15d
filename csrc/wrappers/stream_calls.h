/* What the wrappers of calls on streams share. The C library's own reads and writes to fill and empty a stream's buffer
 * go through no slot, so these count the bytes that the program asked for. */
#ifndef TFD_STREAM_CALLS_H
#define TFD_STREAM_CALLS_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/clock.h"
#include "base/stream_descriptor.h"
#include "recorder/recorder_calls.h"
#include "recorder/stream_marks.h"
#include "recorder/transfer.h"

static inline uint64_t tfd_begin_stream_call(FILE *stream)
{
    tfd_stream_begin(stream);
    return tfd_ticks();
}

/* A read of nothing is an end-of-file read, or a failed read if the stream has an error. */
static inline void tfd_record_stream_read(FILE *stream, size_t bytes, uint8_t flags, uint64_t start)
{
    int fd = tfd_descriptor_of(stream);
    if (fd < 0)
        return;
    ssize_t result = bytes || !ferror_unlocked(stream) ? (ssize_t)bytes : -1;
    tfd_record_transfer(TFD_OP_FREAD, false, fd, true, -1, result, flags, start);
    tfd_stream_end(stream, fd);
}

static inline void tfd_record_stream_write(FILE *stream, ssize_t bytes, uint8_t flags, uint64_t start)
{
    int fd = tfd_descriptor_of(stream);
    if (fd < 0)
        return;
    tfd_record_transfer(TFD_OP_FWRITE, true, fd, true, tfd_stream_unwritten(stream), bytes, flags, start);
    tfd_stream_end(stream, fd);
}

static inline void tfd_record_stream_given_back(FILE *stream, ssize_t bytes)
{
    int fd = tfd_descriptor_of(stream);
    if (fd < 0)
        return;
    tfd_record_given_back(fd, bytes);
    tfd_stream_end(stream, fd);
}

#endif
