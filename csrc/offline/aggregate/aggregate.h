/* Sums over recorded calls, for analyses of more calls than memory holds. The only header that cffi reads for this
 * extension. Nothing is allocated. */
#ifndef TFD_AGGREGATE_H
#define TFD_AGGREGATE_H

#include <stddef.h>
#include <stdint.h>

enum {
    TFD_BIN_SUMS = 4, /* calls that began, bytes, 2^-32 parts of bytes, ns in calls */
    TFD_BIN_CALLS = 0,
    TFD_BIN_BYTES = 1,
    TFD_BIN_BYTE_PARTS = 2,
    TFD_BIN_BUSY_NS = 3,
    TFD_SIZES = 12, /* Darshan's size buckets, empty transfers first, and calls that move no bytes last */
    TFD_DURATION_SUMS = 4,      /* calls, bytes, total ns, longest ns */
    TFD_DURATION_CELLS = 28160, /* cells of durations: 1 ns each up to 1023 ns, then 512 for each octave */
};

struct tfd_calls { /* in order of start; `count` long */
    const int64_t *start_ns;
    const int64_t *end_ns;   /* not before start_ns */
    const int64_t *length;   /* bytes moved by reads and writes */
    const uint8_t *io_class; /* 0 read, 1 write, 2 neither */
    size_t count;
};

struct tfd_bins { /* equal parts of time */
    int64_t start_ns, bin_ns;
    size_t count;
};

/* Spread calls evenly over their durations into `sums`, groups x bins x TFD_BIN_SUMS. Parts outside of all bins are
 * left out; a call that began there counts in the nearest bin. */
void tfd_spread_calls(const struct tfd_calls *calls, const int32_t *group, const struct tfd_bins *bins,
                      int64_t *sums);
/* Adds calls that did not fail by operation x size: TFD_DURATION_SUMS numbers and TFD_DURATION_CELLS cells. */
void tfd_add_durations(const struct tfd_calls *calls, const uint8_t *operation, const int16_t *error,
                       int64_t *sums, int64_t *cells);

/* ---- calls on a job's input ---- */

enum tfd_call_kind {
    TFD_OPENS,
    TFD_CLOSES,
    TFD_STATS, /* stat() by path */
    TFD_SEEKS,
    TFD_READS, /* of data, failed ones too */
    TFD_EMPTY_READS,
    TFD_WRITES,
    TFD_SYNCS,
    TFD_OTHERS,
    TFD_FSTATS, /* of an open file */
    TFD_CALL_KINDS
};

enum {
    TFD_KIND_SUMS = 3, /* calls, ns and bytes */
    /* opens, reads, bytes read; ns in reads, other calls, opens and closes, stat() calls by path; beginning of the
     * first read and end of the last one */
    TFD_FILE_COSTS = 9,
    TFD_PASS_NUMBERS = 9,
    TFD_DEEPEST = 1024 /* largest queue depth */
};

struct tfd_input_calls { /* in order of start; `count` long */
    const int64_t *start_ns, *end_ns;
    const int64_t *length; /* bytes that reads moved */
    const int32_t *file, *thread;
    const uint8_t *kind; /* enum tfd_call_kind */
    size_t count;
};

struct tfd_stretches {                            /* disjoint intervals in order of time; `count` long */
    const int64_t *start_ns, *end_ns, *before_ns; /* `before_ns`: length of all earlier intervals */
    size_t count;
    size_t place; /* 0 at first */
};

struct tfd_input_times { /* zeros at first, unless it says otherwise */
    /* TFD_KIND_SUMS for each kind of call: by other threads, by the loop's, and by the loop's while it waited */
    int64_t *by_kind;
    /* for each thread: ns in calls, beginning of the first call (the largest number at first), end of the last */
    int64_t *by_thread;
    struct tfd_stretches waits;   /* input waits of steps; the caller's */
    struct tfd_stretches rests;   /* the rest of steps; the caller's */
    struct tfd_stretches waiting; /* the waits, which may overlap here: when the loop waits */
    /* wall time with a call running, and until when: the smallest number at first */
    int64_t union_ns, reached_ns;
    int64_t in_waits_ns, in_rests_ns, loop_in_waits_ns; /* the calls' time within these, added up */
};

/* Find the calls on input that neither write nor sync; return how many there are. `places` gets their places, `kinds`
 * their kinds in turn; both are as long as the calls. */
size_t tfd_choose_input(const uint8_t *kind_of_operation, const uint8_t *is_input, const uint8_t *operation,
                        const int32_t *file, const int64_t *length, const int16_t *error, size_t count,
                        int32_t *places, uint8_t *kinds);
/* Find the calls that took longer than the page cache takes, `call_s` and `byte_s` for each byte of a read; return how
 * many there are. `places` gets their places. */
size_t tfd_choose_stored(const struct tfd_input_calls *calls, double call_s, double byte_s, int32_t *places);
/* Add a block of calls; blocks come in order of start. `loop`: the training loop's thread, -1 if there is none. */
void tfd_add_input_times(struct tfd_input_times *sums, const struct tfd_input_calls *calls, int32_t loop);
/* Add the calls to each file's TFD_FILE_COSTS numbers. */
void tfd_add_file_costs(const struct tfd_input_calls *calls, int64_t *costs);

/* Passes of each thread over each file. A pass ends with an open, or once as many bytes were read as the file has. */
struct tfd_passes {
    const int64_t *size_bytes; /* of each file, -1 if unknown */
    double call_s, byte_s;     /* durations of the page cache */
    /* storage also served a pass if this many slow reads took most of its time, and with so many bytes read ahead each
     * they cover all of its bytes */
    int64_t many_slow, ahead_bytes;
    int32_t *first; /* each file's first open pass, a place in `held`, 0 if there is none */
    int64_t *held;  /* TFD_PASS_NUMBERS of each open pass, with room for one more for each call; 0: none */
    int64_t used, free; /* places that were ever used, the first free one of them; 1 and 0 at first */
    int64_t *stored_ns, *stored_bytes; /* of each file, of passes that storage served */
};

/* Add a block of calls; blocks come in order of start. */
void tfd_add_passes(struct tfd_passes *passes, const struct tfd_input_calls *calls);
/* End the open passes. */
void tfd_end_passes(struct tfd_passes *passes, size_t files);

struct tfd_depths {            /* zeros at first */
    double *lasted_ns, *bytes; /* at each queue depth, TFD_DEEPEST numbers */
    int64_t *end_ns;           /* of running calls, with room for one more for each call that is added */
    double *rate;              /* bytes/ns of each running call */
    size_t running;
    int64_t now_ns; /* at first the beginning of the first call */
    double moving;
};

/* Add a block of calls; blocks come in order of start. */
void tfd_add_depths(struct tfd_depths *sums, const struct tfd_input_calls *calls);
/* End the running calls. */
void tfd_end_depths(struct tfd_depths *sums);

/* ---- in which order files are read ---- */

enum {
    TFD_SIDE_BY_SIDE = 16, /* earlier reads that a read may follow: several readers may stream one file */
    /* reads at a known offset, jumps among them, bytes, total ns; all reads; ns of jumps. A jump follows none of the
     * earlier reads */
    TFD_READ_ORDER_SUMS = 6,
};

struct tfd_read_order {      /* zeros at first, except for `slot` */
    const int32_t *slot;     /* each file's place in `ends` and `lengths`, -1 if it is not analysed */
    int64_t *ends, *lengths; /* TFD_SIDE_BY_SIDE numbers for each place */
    int64_t *sums;           /* TFD_READ_ORDER_SUMS numbers for each file */
};

/* Add the reads of data in a block of calls; blocks come in order of start. `offset` is -1 if it is not known. */
void tfd_add_read_order(struct tfd_read_order *order, const struct tfd_input_calls *calls,
                        const int64_t *offset);

#endif
