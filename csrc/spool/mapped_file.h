/* Mapped files in a spool: how their pages were watched, and the figures of each file.
 *
 * The watching thread writes while readers may read. Times are CLOCK_MONOTONIC, in nanoseconds. */
#ifndef TFD_MAPPED_FILE_H
#define TFD_MAPPED_FILE_H

#include <stdatomic.h>
#include <stdint.h>

/* Result of watching page faults. They are unknown unless it is TFD_FAULTS_WATCHED. */
enum tfd_fault_watch {
    TFD_FAULTS_NOT_ASKED, /* no file was mapped */
    TFD_FAULTS_WATCHED,   /* faults of all threads were events, all or some of the time */
    TFD_FAULTS_NO_EVENTS, /* perf_event_open was refused: `error` */
    TFD_FAULTS_NO_THREAD, /* no watching thread could be started: `error` */
    TFD_FAULTS_NO_TABLE,  /* the thread could not get its own table of descriptors: `error` */
    TFD_FAULTS_NO_BUFFER, /* no locked memory for the events: `error` */
    TFD_FAULTS_TOO_MANY,  /* more threads than descriptors */
};

struct tfd_mapped_file {
    uint64_t next;      /* offset of the next one, 0 = last */
    uint32_t file;      /* index into the spool's files */
    uint32_t under_way; /* faults that have begun and not ended */
    uint64_t device, inode;
    uint64_t mappings, mapped_bytes;      /* made, or inherited at the start */
    uint64_t faults, major_faults;        /* faults that were events */
    int64_t wait_ns, busy_ns, longest_ns; /* of faults: over threads, as wall time, the longest. By samples of
                                             threads: the file's share by bytes that came in */
    int64_t first_ns, last_ns;            /* start of the first fault, end of the last; 0: none */
    int64_t busy_since_ns;                /* set while a fault is under way */
    int64_t bytes_in;      /* bytes that came into the page cache meanwhile; negative: unknown */
    uint32_t bytes_missed; /* 1: not watched for a time while it was mapped, so unknown */
    uint32_t held;         /* 1: the watching thread has its descriptor */
    int64_t bytes_cached, bytes_evicted; /* at the last look */
    int64_t bytes_left;                  /* bytes that left the page cache meanwhile, if bytes_in is known */
    int64_t bytes_touched;               /* estimate of the bytes that faults made accessible */
};

/* A page fault on a mapped file. */
struct tfd_kept_fault {
    int64_t start_ns, end_ns;
    int64_t offset; /* of the page, in the file */
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
    uint64_t first;                   /* offset of the first struct tfd_mapped_file, 0 = none */
    uint64_t first_block, last_block; /* offsets of struct tfd_fault_block, 0 = none */
    uint64_t faults_left_out;         /* faults on mapped files that no block had room for */
    uint32_t blocks, blocks_refused;  /* number of blocks; 1: there was no room for another one */
    uint32_t count;
    uint32_t watch;                 /* enum tfd_fault_watch */
    int32_t error;                  /* errno of what failed */
    uint32_t ranges_lost;           /* mappings without a place in the table of addresses */
    uint32_t left_out;              /* mappings of files without a place in this list */
    uint32_t settled;               /* 1: the watching thread has taken its last look, at a stop or an exit */
    uint64_t faults;                /* faults that were events, on mapped files and other memory */
    uint64_t lost;                  /* samples that the kernel had no room for, two per fault */
    uint64_t unpaired;              /* samples without the other sample of their fault */
    int64_t watched_ns, sampled_ns; /* time watched, and part of it with faults as events */
    int64_t minor_faults, major_faults;  /* of the whole process while it was watched, by getrusage */
    int64_t sampled_faults;              /* of these, while faults were events */
    int64_t cost_ns;                     /* estimated cost of watching */
    uint64_t looks;                      /* samples of threads if faults are not events; 0: none. By these: */
    int64_t blocked_ns, blocked_busy_ns; /* time in faults, at least: over threads, and as wall time */
};

/* Values of bytes_in. */
enum { TFD_BYTES_UNKNOWN = -1, TFD_BYTES_NOT_LOOKED = -2 };

/* Files in the list, at most: few enough to search it for each mapping. */
#define TFD_MAPPED_FILES_MAX 8192u

#endif
