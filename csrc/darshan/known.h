/* What Darshan knows of the process's descriptors and streams: it learns of them by the calls that pass, and is
 * told of their end before the number can mean something else. */
#ifndef TFD_DARSHAN_KNOWN_H
#define TFD_DARSHAN_KNOWN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/stream_descriptor.h"
#include "darshan/gate.h"
#include "recorder/descriptor_table.h"

bool tfd_known_prepare(void); /* false: no address space */

/* Generation in which Darshan learnt of a descriptor, or of the stream on it; 0: it has no entry of it. */
extern _Atomic uint32_t *tfd_known_descriptor, *tfd_known_stream;

static inline bool known_now(_Atomic uint32_t *table, int fd)
{
    return (unsigned)fd < TFD_MAX_DESCRIPTORS && table &&
           atomic_load_explicit(&table[fd], memory_order_relaxed) == gate_generation();
}

/* By an open of this session that it saw. */
static inline bool tfd_knows(int fd)
{
    return known_now(tfd_known_descriptor, fd);
}

static inline bool tfd_knows_stream(FILE *stream)
{
    return stream && known_now(tfd_known_stream, tfd_descriptor_of(stream));
}

/* Whether Darshan has an entry of the number, of whatever session. */
static inline bool known_ever(_Atomic uint32_t *table, int fd)
{
    return (unsigned)fd < TFD_MAX_DESCRIPTORS && atomic_load_explicit(&table[fd], memory_order_relaxed);
}

/* Whether Darshan has an entry of the number or of a stream on it. */
static inline bool tfd_known_at_all(int fd)
{
    return known_ever(tfd_known_descriptor, fd) || known_ever(tfd_known_stream, fd);
}

extern _Atomic int tfd_known_highest;
void tfd_known_gain_slowly(int fd);

static inline void tfd_known_gain(int fd)
{
    if (TFD_LIKELY(fd >= 0 && fd <= atomic_load_explicit(&tfd_known_highest, memory_order_relaxed) &&
                   !known_ever(tfd_known_descriptor, fd)))
        atomic_store_explicit(&tfd_known_descriptor[fd], tfd_gate_passed_in, memory_order_relaxed);
    else
        tfd_known_gain_slowly(fd);
}

void tfd_known_gain_stream(FILE *stream);
/* fileno told Darshan of the stream's descriptor. */
void tfd_known_gain_alias(int fd);

/* Darshan forgets a descriptor or stream that it knows, before it is closed. */
void tfd_known_drop(int fd);
void tfd_known_drop_stream(int fd);
/* Darshan forgets what the number meant, in a call on its way that gives the number a new meaning. */
void tfd_known_drop_entries(int fd);

static inline void tfd_known_drop_stale(int fd)
{
    if (!TFD_LIKELY(!known_ever(tfd_known_descriptor, fd)))
        tfd_known_drop_entries(fd);
}
/* It forgets what fileno once told it, unless that is the same file still. */
void tfd_known_drop_other_file(int fd);
/* Darshan still has an entry for it, which is not to be used any more. A stream's
 * descriptor is left like that when the stream is closed: to tell Darshan of a
 * close would change its file's counters. */
void tfd_known_distrust(int fd);
/* Before a session: Darshan forgets descriptors and streams of the one before, whose numbers may be others' now. */
void tfd_known_sweep(void);

/* Numbers that a call libdarshan has no wrapper for is about to free. */
void tfd_darshan_forget(int fd);
void tfd_darshan_forget_range(unsigned first, unsigned last);

#endif
