/* Layout of a spool: the memory-mapped file a process records into.
 *
 * The file is sparse, `capacity_bytes` long, and handed out from the front by
 * a bump allocator (spool_file.h). Everything inside refers to everything
 * else by byte offset from the start of the file, so another process, or this
 * one after a crash, can read it. Offset 0 is the header and means "none".
 *
 * One spool belongs to one process; a forked child makes its own. */
#ifndef TFD_SPOOL_H
#define TFD_SPOOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock_sample.h"
#include "base/kernel_io.h"
#include "spool/packed_event.h"
#include "tfdarshan.h"

#define TFD_SPOOL_MAGIC "TFDSPOOL"
#define TFD_SPOOL_VERSION 13u
#define TFD_UNTRACED_SPOOL_VERSION 12u /* has all of the header but `bypasses` */
#define TFD_THINNED_SPOOL_VERSION 11u  /* nor `untraced` */
#define TFD_OLDEST_SPOOL_VERSION 10u   /* nor `thinned` */
#define TFD_SEGMENT_COUNT 26           /* segments of a growing array */
#define TFD_FILES_IN_FIRST_SEGMENT 1024u
#define TFD_THREADS_IN_FIRST_SEGMENT 64u
#define TFD_MAX_FILES (1u << 26)
#define TFD_MAX_THREADS (1u << 20)
#define TFD_MAX_MOUNTS 2048 /* with their names less than half of the least spool (memory_cap.h) */
#define TFD_SPOOL_PATH_MAX 512

/* What a descriptor that is not a recorded file is; calls on these are
 * counted per thread and never become events. */
enum tfd_other_kind {
    TFD_OTHER_EXCLUDED, /* file left out by the path filter */
    TFD_OTHER_PIPE,
    TFD_OTHER_SOCKET,
    TFD_OTHER_DEVICE,    /* terminals and other character or block devices */
    TFD_OTHER_ANONYMOUS, /* memfd, eventfd, epoll ... */
    TFD_OTHER_UNKNOWN,
    TFD_OTHER_SKIPPED, /* calls made while the recorder itself was interrupted, by a signal handler */
    TFD_OTHER_KIND_COUNT
};

struct tfd_other_traffic {
    int64_t reads, bytes_read, writes, bytes_written, other_calls;
};

/* A block of one thread's events, see packed_event.h. `fill` is published
 * after the event is complete. A chunk with `kept` 0 is recycled once folded:
 * its events are in the counters, and thinned (thinned.h) instead of in the trace. It is then the last one
 * of its thread: a thread's chunks are always in order of time. */
struct tfd_chunk {
    uint64_t next;           /* offset of this thread's next chunk, 0 = last */
    uint64_t base;           /* ticks that starts are relative to */
    _Atomic uint64_t fill;   /* events << 32 | places in use: both in one store */
    _Atomic uint32_t folded; /* places of these whose events are in the counters already */
    uint32_t capacity;       /* places */
    uint32_t kept;
    _Atomic uint32_t released; /* 1: folding has left it, its thread may fill it again */
    tfd_place places[];
};

#define TFD_FILL(events, places) ((uint64_t)(events) << 32 | (places))

/* Appends an event; false where it might not fit. One writer at a time. */
static inline __attribute__((always_inline)) bool tfd_chunk_append(struct tfd_chunk *chunk,
                                                                   const struct tfd_event *event)
{
    uint64_t fill = atomic_load_explicit(&chunk->fill, memory_order_relaxed);
    uint32_t place = (uint32_t)fill;
    if (place + TFD_PLACES_MAX > chunk->capacity)
        return false;
    if (!place)
        chunk->base = event->start;
    uint32_t places = tfd_pack(event, chunk->base, &chunk->places[place]);
    atomic_store_explicit(&chunk->fill, fill + TFD_FILL(1, places), memory_order_release);
    return true;
}

/* Places in use, and how many events they hold. */
static inline uint32_t tfd_chunk_count(const struct tfd_chunk *chunk)
{
    return (uint32_t)atomic_load_explicit(&chunk->fill, memory_order_acquire);
}

static inline uint32_t tfd_chunk_events(const struct tfd_chunk *chunk)
{
    return (uint32_t)(atomic_load_explicit(&chunk->fill, memory_order_acquire) >> 32);
}

/* How many places the event at `place` takes. In a damaged chunk there may be
 * none, or its end may lie outside: that counts as an event of one place. */
static inline uint32_t tfd_chunk_places(const struct tfd_chunk *chunk, uint32_t place)
{
    uint32_t places = tfd_places_of(chunk->places[place]);
    return places <= chunk->capacity - place ? places : 1;
}

/* Reads the event at `place` and returns the place of the next. What is no event has no valid operation. */
static inline uint32_t tfd_chunk_event(const struct tfd_chunk *chunk, uint32_t place, struct tfd_event *event)
{
    uint32_t places = tfd_chunk_places(chunk, place);
    if (places > 1)
        tfd_unpack(&chunk->places[place], chunk->base, event);
    else
        *event = (struct tfd_event){.operation = UINT8_MAX};
    return place + places;
}

/* When the chunk's first call began, in ticks; 0 where it has none. Calls are in order of their ends. */
static inline uint64_t tfd_chunk_first_start(const struct tfd_chunk *chunk)
{
    uint64_t first = 0;
    struct tfd_event event;
    for (uint32_t place = 0, count = tfd_chunk_count(chunk); place < count && place < chunk->capacity;) {
        place = tfd_chunk_event(chunk, place, &event);
        if (event.operation != UINT8_MAX && (!first || event.start < first))
            first = event.start;
    }
    return first;
}

/* A record of a thread. Record 0 is nobody's own: it has the sums of threads that found no room for a record, and of
 * those that have ended and whose record is another thread's now (recorder/ended_threads.h). */
struct tfd_thread {
    int32_t tid;
    _Atomic uint32_t ended; /* 1: the thread is gone, so nothing is added to its last chunk */
    char name[16];
    uint64_t first_chunk;
    uint64_t current_chunk;
    uint64_t fold_chunk;     /* where folding goes on; 0 = at first_chunk */
    uint64_t events_dropped; /* folded, then recycled: not in the trace */
    uint64_t dropped_start;  /* ticks: when the first of these began, 0 = there are none */
    struct tfd_other_traffic other[TFD_OTHER_KIND_COUNT];
};

static inline void tfd_thread_note_dropped(struct tfd_thread *thread, uint64_t start)
{
    if (start && (!thread->dropped_start || start < thread->dropped_start))
        thread->dropped_start = start;
}

struct tfd_file {
    uint64_t path; /* offset of path_length bytes, no terminator */
    uint32_t path_length;
    uint32_t path_hash;
    uint32_t mount;    /* index into mounts, TFD_NO_MOUNT if unknown */
    uint32_t over_cap; /* 1: counted in files_over_cap, for its counters found no room */
    uint64_t record;   /* offset of the fold's record, 0 = none */
};
#define TFD_NO_MOUNT UINT32_MAX

/* Files 0 and 1 are not real: 0 stands for "no file" (a call on a bad
 * descriptor), 1 takes every file beyond the memory cap, so totals stay exact. */
enum { TFD_FILE_NONE = 0, TFD_FILE_OVERFLOW = 1, TFD_FIRST_FILE = 2 };

struct tfd_mount {
    uint64_t point; /* offset of a NUL-terminated path */
    uint64_t fs_type;
    uint64_t source;
    uint32_t point_length;
    _Atomic uint32_t block_size; /* statfs f_bsize, 0 until a file there was opened */
};

/* Which of the session's path patterns a path met, a bit each: those beyond the 64th are not followed. */
struct tfd_patterns_met {
    _Atomic uint64_t include, exclude;
};

enum { TFD_SPOOL_RECORDING = 1, TFD_SPOOL_STOPPED = 2 };

enum tfd_joined { TFD_JOINED_NOT, TFD_JOINED_BY_INTERPRETER, TFD_JOINED_BY_LIBRARY };

struct tfd_spool_header {
    char magic[8];
    uint32_t version;
    uint32_t place_bytes; /* sizeof(tfd_place) */
    uint64_t capacity_bytes;
    _Atomic uint64_t used_bytes;     /* bump pointer */
    _Atomic uint64_t reserved_bytes; /* of the file, backed by storage (fallocate) */
    uint64_t trace_limit_bytes;      /* kept chunks and thinned calls stop here */
    _Atomic uint64_t trace_bytes;    /* in these; in the owner's spool those of all processes */
    int32_t pid;
    int32_t parent_pid; /* 0 in the process that started the session */
    char host[64];
    char command[1024];     /* arguments, each with its NUL; the last is "..." where they do not fit */
    uint64_t process_start; /* clock ticks since boot, 0 = unknown: tells processes of one number apart */
    struct tfd_clock_sample calibration; /* taken early in the process's life */
    struct tfd_clock_sample start;
    struct tfd_clock_sample stop; /* ticks 0 until stopped */
    struct tfd_kernel_io kernel_start;
    struct tfd_kernel_io kernel_stop;
    _Atomic uint32_t state;
    _Atomic uint32_t stop_requested; /* set by the session's owner for live children */
    _Atomic uint32_t thread_count;
    _Atomic uint32_t file_count;     /* includes files 0 and 1 */
    _Atomic uint32_t files_folded;   /* have counters already */
    uint32_t joined;                 /* how a program that was started did: enum tfd_joined */
    _Atomic uint64_t files_over_cap; /* share the row of TFD_FILE_OVERFLOW: each once, see overflow_names.h */
    _Atomic uint64_t spool_full;     /* enum tfd_full: what refused an allocation first */
    uint32_t mount_count;
    _Atomic uint32_t other_user_programs;        /* that this process started, or became, as another user */
    uint64_t mounts;                             /* offset of struct tfd_mount[mount_count] */
    uint64_t thread_segments[TFD_SEGMENT_COUNT]; /* struct tfd_thread; segment k has FIRST << k */
    uint64_t file_segments[TFD_SEGMENT_COUNT];   /* struct tfd_file */
    _Atomic uint64_t fold;                       /* offset of the fold's root, 0 = nothing folded yet */
    struct tfd_patterns_met patterns_met;
    _Atomic uint64_t session_bytes;     /* in the owner's spool: what all processes of the session use */
    _Atomic uint64_t mapped_files;      /* offset of struct tfd_mapped_files, 0 = no file was mapped */
    _Atomic uint64_t missed_opens;      /* job/missed_opens.h */
    _Atomic uint64_t fold_thread_ns;    /* processor time of the thread that folds */
    _Atomic uint64_t folded_by_callers; /* events that recording threads folded, as that fell behind */
    _Atomic uint64_t
        uncounted;            /* 1: nobody waits for this process, whose bytes are in its own figures alone */
    _Atomic uint64_t thinned; /* offset of struct tfd_thinned, 0 = no trace is kept */
    _Atomic uint64_t untraced; /* offset of struct tfd_untraced, 0 = none yet, or TFD_UNTRACED_NO_ROOM */
    _Atomic uint64_t bypasses; /* enum tfd_bypass, added up */
};

static inline void tfd_spool_note_full(struct tfd_spool_header *header, enum tfd_full by)
{
    uint64_t not_yet = TFD_FULL_NOT;
    atomic_compare_exchange_strong(&header->spool_full, &not_yet, by);
}

/* An open spool, in the recording process or in a reader. */
struct tfd_spool {
    char *base;
    struct tfd_spool_header *header; /* == base */
    uint64_t capacity_bytes;         /* of the mapping: a reader may map more than the file has */
    char path[TFD_SPOOL_PATH_MAX];   /* empty in a reader: memory is anonymous, nothing to reserve */
    const uint8_t *seen_files;       /* not NULL: only these files are folded, and what libdarshan saw */
};

static inline void *tfd_at(const struct tfd_spool *spool, uint64_t offset)
{
    return spool->base + offset;
}

/* Segment and place of element `index` of a growing array whose first segment holds `first`. */
static inline uint32_t tfd_segment_of(uint32_t index, uint32_t first, uint32_t *place)
{
    uint32_t scaled = index / first + 1;
    uint32_t segment = 31u - (uint32_t)__builtin_clz(scaled);
    *place = index - first * ((1u << segment) - 1);
    return segment;
}

static inline struct tfd_file *tfd_file_at(const struct tfd_spool *spool, uint32_t index)
{
    uint32_t place, segment = tfd_segment_of(index, TFD_FILES_IN_FIRST_SEGMENT, &place);
    return (struct tfd_file *)tfd_at(spool, spool->header->file_segments[segment]) + place;
}

static inline struct tfd_thread *tfd_thread_at(const struct tfd_spool *spool, uint32_t index)
{
    uint32_t place, segment = tfd_segment_of(index, TFD_THREADS_IN_FIRST_SEGMENT, &place);
    return (struct tfd_thread *)tfd_at(spool, spool->header->thread_segments[segment]) + place;
}

#endif
