/* What a spool says of mapped files: how their pages were watched, and what was seen of each file.
 *
 * The watching thread writes, readers may look meanwhile. Times are CLOCK_MONOTONIC, in nanoseconds. */
#ifndef TFD_MAPPED_FILE_H
#define TFD_MAPPED_FILE_H

#include <stdatomic.h>
#include <stdint.h>

/* Where the watching got to. What is not TFD_FAULTS_WATCHED leaves page faults unknown. */
enum tfd_fault_watch {
    TFD_FAULTS_NOT_ASKED, /* no file was mapped */
    TFD_FAULTS_WATCHED,   /* every thread's faults were events, or a share of them */
    TFD_FAULTS_NO_EVENTS, /* perf_event_open was refused: `error` */
    TFD_FAULTS_NO_THREAD, /* no thread to watch from: `error` */
    TFD_FAULTS_NO_TABLE,  /* no table of descriptors of its own for it: `error` */
    TFD_FAULTS_NO_BUFFER, /* no locked memory for the events: `error` */
    TFD_FAULTS_TOO_MANY,  /* more threads than descriptors */
};

struct tfd_mapped_file {
    uint64_t next;      /* offset of the next one, 0 = last */
    uint32_t file;      /* index into the spool's files */
    uint32_t under_way; /* faults that have begun and not ended */
    uint64_t device, inode;
    uint64_t mappings, mapped_bytes;      /* that were made, or there at the start */
    uint64_t faults, major_faults;        /* that were events */
    int64_t wait_ns, busy_ns, longest_ns; /* of these: added up over threads, and overlaps once. Where looks
                                             took the place of events: its share by bytes that came in */
    int64_t first_ns, last_ns;            /* start of the first, end of the last; 0: there was none */
    int64_t busy_since_ns;                /* while one is under way */
    int64_t bytes_in;                     /* that came into the page cache meanwhile; below 0: unknown */
    uint32_t bytes_missed; /* 1: while it was mapped nobody looked for a time, they are unknown */
    uint32_t held;         /* 1: the watching thread has a descriptor of it */
    int64_t bytes_cached, bytes_evicted; /* when it was looked at last */
    int64_t bytes_left;                  /* that left the page cache meanwhile, where bytes_in is known */
    int64_t bytes_touched; /* that faults which were events are reckoned to have made accessible */
};

/* A page fault on a mapped file. */
struct tfd_kept_fault {
    int64_t start_ns, end_ns;
    int64_t offset; /* of its page in the file */
    uint32_t file;  /* index into the spool's files */
    int32_t tid;
    uint32_t is_major, unused;
};

#define TFD_FAULTS_IN_BLOCK 1638u /* 64 KiB */

struct tfd_fault_block {
    uint64_t next; /* offset of the next one, 0 = last */
    _Atomic uint32_t count;
    uint32_t unused;
    struct tfd_kept_fault faults[TFD_FAULTS_IN_BLOCK]; /* in order of their ends */
};

#define TFD_FAULT_BLOCKS_MAX 160u

struct tfd_mapped_files {
    uint64_t first;                   /* offset of the first struct tfd_mapped_file, 0 = there is none */
    uint64_t first_block, last_block; /* offsets of struct tfd_fault_block, 0 = there is none */
    uint64_t faults_left_out;         /* faults on mapped files that are in no block: there was no room */
    uint32_t blocks, blocks_refused;  /* how many there are; whether one more found no room */
    uint32_t count;
    uint32_t watch;                 /* enum tfd_fault_watch */
    int32_t error;                  /* errno of what was refused */
    uint32_t ranges_lost;           /* mappings that found no place in the table of addresses */
    uint32_t left_out;              /* mappings of files that found no place in this list */
    uint32_t settled;               /* 1: the watching thread took its last look, as at a stop or an exit */
    uint64_t faults;                /* that were events, of mapped files and of all other memory */
    uint64_t lost;                  /* samples that the kernel had no room for: two make a fault */
    uint64_t unpaired;              /* samples whose other half is missing */
    int64_t watched_ns, sampled_ns; /* how long it was watched, and how long faults were events meanwhile */
    int64_t minor_faults, major_faults; /* of the whole process while it was watched, by getrusage */
    int64_t sampled_faults;             /* of these, those of the time in which faults were events */
    int64_t cost_ns;                    /* of the watching, as it is reckoned */
    uint64_t looks; /* where faults are no events: how often threads were looked at; 0: never. Then: */
    int64_t blocked_ns, blocked_busy_ns; /* in faults, at least: added up over threads, and overlaps once */
};

/* Of bytes_in. */
enum { TFD_BYTES_UNKNOWN = -1, TFD_BYTES_NOT_LOOKED = -2 };

/* Few enough to be gone through for each mapping. */
#define TFD_MAPPED_FILES_MAX 8192u

#endif
