/* What Darshan knows of the process's descriptors and streams. It learns of them by calls that pass, and is told of
 * their end before the number can get another meaning. */
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

/* Generation in which Darshan learnt of a descriptor, or of the stream on it; 0: it has no entry. */
extern _Atomic uint32_t *tfd_known_descriptor, *tfd_known_stream;

static inline bool known_now(_Atomic uint32_t *table, int fd)
{
    return (unsigned)fd < TFD_MAX_DESCRIPTORS && table &&
           atomic_load_explicit(&table[fd], memory_order_relaxed) == gate_generation();
}

/* Return true if Darshan saw an open of the descriptor in this session. */
static inline bool tfd_knows(int fd)
{
    return known_now(tfd_known_descriptor, fd);
}

static inline bool tfd_knows_stream(FILE *stream)
{
    return stream && known_now(tfd_known_stream, tfd_descriptor_of(stream));
}

/* Return true if Darshan has an entry of the number, from any session. */
static inline bool known_ever(_Atomic uint32_t *table, int fd)
{
    return (unsigned)fd < TFD_MAX_DESCRIPTORS && atomic_load_explicit(&table[fd], memory_order_relaxed);
}

/* Return true if Darshan has an entry of the number or of a stream on it. */
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
/* Note that fileno told Darshan of a stream's descriptor. */
void tfd_known_gain_alias(int fd);

/* Have Darshan forget a descriptor or stream that it knows, before it is closed. */
void tfd_known_drop(int fd);
void tfd_known_drop_stream(int fd);
/* Have Darshan forget the number's old meaning, in a call that gives it a new one. */
void tfd_known_drop_entries(int fd);

static inline void tfd_known_drop_stale(int fd)
{
    if (!TFD_LIKELY(!known_ever(tfd_known_descriptor, fd)))
        tfd_known_drop_entries(fd);
}
/* Have Darshan forget what fileno told it, unless that is still the same file. */
void tfd_known_drop_other_file(int fd);
/* Note that Darshan's entry of the number must not be used any more. That is so
 * after a stream is closed: telling Darshan of a close of its descriptor would
 * change its file's counters. */
void tfd_known_distrust(int fd);
/* Have Darshan forget descriptors and streams of the last session, whose numbers may have other meanings now. Call this
 * before a session. */
void tfd_known_sweep(void);

/* Have Darshan forget numbers that a call without a wrapper in libdarshan is about to free. */
void tfd_darshan_forget(int fd);
void tfd_darshan_forget_range(unsigned first, unsigned last);

#endif
