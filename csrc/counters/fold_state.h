/* Counters of a spool's files, as they lie in its arena.
 *
 * A million files must fit, most of them opened once and read once: a file
 * has a record, and groups of counters hang off it only where a call needed
 * them. Blocks are zero when made and are never freed; a pointer to one is
 * stored only when the block is complete.
 *
 * Times are in ticks. A timestamp of 0 means never. */
#ifndef TFD_FOLD_STATE_H
#define TFD_FOLD_STATE_H

#include "counters/fold_journal.h"
#include "counters/interval_set.h"
#include "spool/event.h"
#include "spool/spool.h"

/* Darshan follows at most so many different access sizes, and strides, of a file. */
#define TFD_TRACKED_VALUES 32u
#define TFD_FIRST_TRACKED_VALUES 4u
#define TFD_SIZE_BUCKETS 10
#define TFD_FAILURE_SLOTS 1024u
/* Disjoint intervals a union remembers, see interval_set.h: 128 KiB each, and 16 MiB each. */
#define TFD_RECORDER_INTERVALS 8192u
#define TFD_READER_INTERVALS (1u << 20)

/* Where a block is, in units of 16 bytes (so 64 GiB can be addressed); 0 = none. */
typedef uint32_t tfd_ref;
#define TFD_REF_UNIT 16u

/* A size or stride and how often it occurred. */
struct fold_value {
    int64_t value;
    uint64_t calls;
};

/* POSIX reads, or POSIX writes. */
struct fold_direction {
    uint64_t calls, bytes;
    int64_t max_byte;
    uint64_t consecutive, sequential;
    int64_t last_byte; /* where the last access ended; 0 after open and close, as in Darshan */
    uint64_t first_start, last_end;
    uint64_t time, busy_until; /* fsync counts in these of the writes */
    uint64_t longest;
    int64_t longest_size;
    uint64_t zero_calls;
    uint32_t zero_consecutive, zero_sequential; /* of these */
    uint64_t sizes[TFD_SIZE_BUCKETS];
};

/* What few files see. */
struct fold_rare {
    uint64_t filenos, mmaps, mmap_bytes, fsyncs, fdatasyncs;
    uint64_t rename_sources, rename_targets, renames;
    uint64_t unlinks, truncates, stats_other;
    uint64_t copy_reads, copy_read_bytes, copy_read_time, copy_read_busy_until;
    uint64_t copy_writes, copy_write_bytes, copy_write_time, copy_write_busy_until;
    uint32_t renamed_from;      /* file id of the first source, 0 = none */
    uint32_t unseen_operations; /* bit by operation: of the calls that a libdarshan beside us did not see */
    uint64_t unseen;            /* how many these are */
};

struct fold_stdio {
    uint64_t opens, fdopens, reads, writes, seeks, flushes, bytes_written, bytes_read;
    int64_t max_byte_read, max_byte_written;
    int64_t offset;
    uint64_t zero_reads, failed_calls, unseen, unseen_operations;
    uint64_t meta_time, meta_busy_until, write_time, write_busy_until, read_time, read_busy_until;
    uint64_t open_start, open_end, close_start, close_end, write_start, write_end, read_start, read_end;
};

enum {
    TFD_RECORD_POSIX = 1,       /* a POSIX call named the file: it has a row */
    TFD_RECORD_TRACKED = 2,     /* Darshan would have a POSIX record */
    TFD_RECORD_SIZE_KNOWN = 4,  /* extent is the size, else the highest end seen */
    TFD_RECORD_ZERO_ACCESS = 8, /* size 0 takes one of the tracked access sizes */
    TFD_RECORD_ZERO_STRIDE = 16,
    TFD_RECORD_LAST_READ = 32,
    TFD_RECORD_LAST_WRITE = 64,
    TFD_RECORD_SIZE_CHANGES =
        128, /* opened for writing, or written: what calls showed of its size may be over */
};

/* One per file that a call named. */
struct fold_record {
    tfd_ref directions[2]; /* TFD_CLASS_READ, TFD_CLASS_WRITE */
    tfd_ref rare, stdio;
    tfd_ref accesses, strides;          /* struct fold_value[4, 8, 16 or 32], without value 0 */
    uint8_t access_count, stride_count; /* tracked, with value 0 */
    uint8_t flags, reserved;
    uint32_t mode;
    int64_t offset; /* Darshan's: of the file, not of a descriptor */
    int64_t extent;
    uint64_t opens, dups, seeks, stats, failed_calls;
    uint64_t open_start, open_end, close_start, close_end;
    uint64_t meta_time, meta_busy_until;
    uint64_t switches, mem_not_aligned, file_not_aligned;
};

_Static_assert(sizeof(struct fold_record) <= 160, "a million files are to fit");
_Static_assert(sizeof(struct fold_direction) <= 192, "a million files are to fit");

struct fold_failure {
    uint16_t operation, error;
    uint32_t reserved;
    uint64_t calls; /* 0: the slot is free */
};

struct fold_totals {
    uint64_t events; /* folded; events that made no sense are not among them */
    uint64_t broken; /* made no sense: only in a damaged spool */
    uint64_t first_start, last_end;
    uint64_t busy; /* ticks, all calls' durations added up */
};

enum { TFD_UNION_ALL = TFD_CLASS_COUNT, TFD_UNION_COUNT };

struct fold_root {
    struct fold_totals totals;
    struct fold_journal journal;
    uint64_t unions[TFD_UNION_COUNT]; /* struct interval_set: one per class, and all */
    uint64_t heap;                    /* the drain's work space */
    uint64_t heap_capacity;
    _Atomic uint64_t kept_bytes;                  /* of kept chunks that folding has left behind */
    uint64_t other_failures[TFD_OPERATION_COUNT]; /* where the table had no place */
    struct fold_failure failures[TFD_FAILURE_SLOTS];
};

/* False only in a damaged spool. */
static inline bool tfd_event_makes_sense(const struct tfd_spool *spool, const struct tfd_event *event)
{
    return event->operation < TFD_OPERATION_COUNT &&
           event->file < atomic_load_explicit(&spool->header->file_count, memory_order_acquire);
}

static inline void *tfd_block(const struct tfd_spool *spool, tfd_ref ref)
{
    return ref ? tfd_at(spool, (uint64_t)ref * TFD_REF_UNIT) : NULL;
}

/* The entries of a record's table of tracked values; value 0 has none. */
static inline uint32_t tfd_access_entries(const struct fold_record *record)
{
    return (uint32_t)record->access_count - !!(record->flags & TFD_RECORD_ZERO_ACCESS);
}

static inline uint32_t tfd_stride_entries(const struct fold_record *record)
{
    return (uint32_t)record->stride_count - !!(record->flags & TFD_RECORD_ZERO_STRIDE);
}

/* A process that records may be killed at any instruction; a reader only ends. */
static inline bool tfd_is_recording(const struct tfd_spool *spool)
{
    return spool->path[0] != '\0';
}

/* The root, made where there is none; NULL when the arena is full. */
struct fold_root *tfd_fold_root(struct tfd_spool *spool);

/* Where the counters of one more file find no room. */
enum fold_full { FOLD_FULL_STOPS, FOLD_FULL_SHARES_A_ROW };

/* Counts one event of a thread and advances chunk->folded; what is in no kept chunk may become a thinned call. What a
 * process that records folds is committed by tfd_journal_end, or when the journal is full: as a whole, also when the
 * process is killed on the way. False: no room, nothing was counted. */
bool tfd_fold_event(struct tfd_spool *spool, struct fold_root *root, struct tfd_chunk *chunk, uint32_t thread,
                    uint32_t index, enum fold_full when_full);

#endif
