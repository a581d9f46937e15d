/* Bytes that compiled-in code moved through a stream: getc_unlocked and putc_unlocked read and write its buffer
 * themselves, and come to the C library only when that is empty or full.
 *
 * Between two calls on a stream nothing else moves its pointers. So each call leaves a mark of where they are, and
 * the next one counts what lies between. Streams that several threads use are not followed: of these a call may have
 * moved the pointers and not be recorded yet. So a thread says that it uses a stream before its first call on it. */
#ifndef TFD_STREAM_MARKS_H
#define TFD_STREAM_MARKS_H

#include <stdio.h>

#include "base/stream_descriptor.h"
#include "recorder/descriptor_table.h"
#include "recorder/slots.h"

void tfd_stream_count_moved(FILE *stream, struct tfd_position *position);
/* Before a call that moves the pointers of a stream of which the calling thread has no marks. */
void tfd_stream_announce(const FILE *stream, int fd);
/* After it, if no other thread has announced a call. */
void tfd_stream_follow(FILE *stream, int fd, struct tfd_position *position);
/* Counts what was moved in each stream of the calling thread; `tfd_streams_mark` leaves new marks. For calls on all
 * streams, and before the session ends. */
void tfd_streams_count_moved(void);
void tfd_streams_mark(void);

static inline void tfd_stream_mark(const FILE *stream, struct tfd_position *position)
{
    atomic_store_explicit(&position->marks.read_at, stream->_IO_read_ptr, memory_order_relaxed);
    atomic_store_explicit(&position->marks.write_at, stream->_IO_write_ptr, memory_order_relaxed);
}

static inline bool tfd_stream_has_moved(const FILE *stream, const struct tfd_position *position)
{
    return atomic_load_explicit(&position->marks.read_at, memory_order_relaxed) != stream->_IO_read_ptr ||
           atomic_load_explicit(&position->marks.write_at, memory_order_relaxed) != stream->_IO_write_ptr;
}

/* Return the bytes that a stream has yet to write, -1 if they are wide characters. */
static inline int64_t tfd_stream_unwritten(const FILE *stream)
{
    return stream->_mode > 0 ? -1 : stream->_IO_write_ptr - stream->_IO_write_base;
}

static inline struct tfd_position *tfd_stream_position(int fd)
{
    struct tfd_descriptor *descriptor = tfd_descriptor_at(fd);
    return descriptor ? tfd_position_of(descriptor) : NULL;
}

/* The calling thread is the only one that has announced a call. */
static inline bool tfd_stream_is_own(const struct tfd_position *position)
{
    return tfd_own_slot && atomic_load_explicit(&position->marks.user, memory_order_relaxed) == tfd_own_slot;
}

/* By the calling thread. */
static inline bool tfd_stream_is_marked(const FILE *stream, const struct tfd_position *position)
{
    return tfd_stream_is_own(position) &&
           atomic_load_explicit(&position->marks.stream, memory_order_relaxed) == stream;
}

/* Before a call on the stream. */
static inline void tfd_stream_begin(FILE *stream)
{
    int fd = tfd_descriptor_of(stream);
    struct tfd_position *position = tfd_stream_position(fd);
    if (!position || !tfd_stream_is_marked(stream, position))
        tfd_stream_announce(stream, fd);
    else if (tfd_stream_has_moved(stream, position))
        tfd_stream_count_moved(stream, position);
}

/* After it, once it is recorded. */
static inline void tfd_stream_end(FILE *stream, int fd)
{
    struct tfd_position *position = tfd_stream_position(fd);
    if (!position)
        return;
    if (tfd_stream_is_marked(stream, position))
        tfd_stream_mark(stream, position);
    else if (tfd_stream_is_own(position) || !atomic_load(&position->marks.user))
        tfd_stream_follow(stream, fd, position);
}

#endif
