/* Sums over recorded calls, for analyses of more of them than memory holds. The only header cffi reads for this
 * extension. Nothing is allocated. */
#ifndef TFD_AGGREGATE_H
#define TFD_AGGREGATE_H

#include <stddef.h>
#include <stdint.h>

enum {
    TFD_BIN_SUMS = 4, /* calls that began, bytes, parts of 2 to the 32nd of bytes, ns in calls */
    TFD_BIN_CALLS = 0,
    TFD_BIN_BYTES = 1,
    TFD_BIN_BYTE_PARTS = 2,
    TFD_BIN_BUSY_NS = 3,
    TFD_SIZES = 12,             /* Darshan's buckets, empty ones first, and last what moves no bytes */
    TFD_DURATION_SUMS = 4,      /* calls, bytes, ns added up, the longest one's ns */
    TFD_DURATION_CELLS = 28160, /* 512 for each octave; one ns each up to 1023 */
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

/* Spreads calls evenly over their durations: sums are groups x bins x TFD_BIN_SUMS. What is outside of all bins is
 * left out; a call that began there counts in the nearest one. */
void tfd_spread_calls(const struct tfd_calls *calls, const int32_t *group, const struct tfd_bins *bins,
                      int64_t *sums);
/* Adds calls that did not fail by operation x size: TFD_DURATION_SUMS numbers and TFD_DURATION_CELLS cells. Tells
 * each call's place among all cells, -1 if it failed. `sums` with `cells`, or `cell_of_call`, may be NULL. */
void tfd_add_durations(const struct tfd_calls *calls, const uint8_t *operation, const int16_t *error,
                       int64_t *sums, int64_t *cells, int32_t *cell_of_call);

/* ---- calls on a job's input ---- */

enum tfd_call_kind {
    TFD_OPENS,
    TFD_CLOSES,
    TFD_STATS, /* by name */
    TFD_SEEKS,
    TFD_READS, /* of data, but where one failed */
    TFD_EMPTY_READS,
    TFD_WRITES,
    TFD_SYNCS,
    TFD_OTHERS,
    TFD_FSTATS, /* of an open file */
    TFD_CALL_KINDS
};

enum {
    TFD_KIND_SUMS = 3, /* calls, ns and bytes */
    TFD_FILE_COSTS =
        9, /* opens, reads, bytes read; ns in reads, other calls, opens and closes, stats by name; when the first read began and
                           the last one ended */
    TFD_PASS_NUMBERS = 9,
    TFD_DEEPEST = 1024 /* calls at a time that are told apart */
};

struct tfd_input_calls { /* in order of start; `count` long */
    const int64_t *start_ns, *end_ns;
    const int64_t *length; /* what reads moved */
    const int32_t *file, *thread;
    const uint8_t *kind; /* enum tfd_call_kind */
    size_t count;
};

struct tfd_stretches {                            /* apart, in order of time; `count` long */
    const int64_t *start_ns, *end_ns, *before_ns; /* the last: time covered before each */
    size_t count;
    size_t place; /* 0 at first */
};

struct tfd_input_times { /* zeros at first, but for what says otherwise */
    int64_t *by_kind;    /* of each kind of call, by another thread than the loop's, by the loop's, and by
                                     the loop's while it waited: TFD_KIND_SUMS */
    int64_t *
        by_thread; /* of each thread ns in calls, when the first began, the largest number at first, and when the
                                     last ended */
    struct tfd_stretches waits;   /* of steps for input; the caller's */
    struct tfd_stretches rests;   /* the rest of steps; the caller's */
    struct tfd_stretches waiting; /* the waits, but that some may overlap: when the loop is in one */
    int64_t union_ns, reached_ns; /* time with a call running; until when: the smallest number at first */
    int64_t in_waits_ns, in_rests_ns, loop_in_waits_ns; /* the calls' time within them, added up */
};

/* Says which calls are on input, and neither writes nor syncs: their places and kinds; returns how many. `kinds` is as long as
 * the calls and has the kind of each of those alone, one after the other. */
size_t tfd_choose_input(const uint8_t *kind_of_operation, const uint8_t *is_input, const uint8_t *operation,
                        const int32_t *file, const int64_t *length, const int16_t *error, size_t count,
                        int32_t *places, uint8_t *kinds);
/* Says which calls took longer than memory does, `call_s` and `byte_s` for each byte of a read: their places; returns how many. */
size_t tfd_choose_stored(const struct tfd_input_calls *calls, double call_s, double byte_s, int32_t *places);
/* Adds calls, none of which began before those that were added already; `loop` is the training loop's thread, -1 for none. */
void tfd_add_input_times(struct tfd_input_times *sums, const struct tfd_input_calls *calls, int32_t loop);
/* Adds each file's TFD_FILE_COSTS numbers. */
void tfd_add_file_costs(const struct tfd_input_calls *calls, int64_t *costs);

struct
    tfd_passes { /* what each thread reads of each file, from an open on or as often as the file has bytes */
    const int64_t *size_bytes; /* of each file, -1 if unknown */
    double call_s, byte_s;     /* what memory takes */
    int64_t many_slow,
        ahead_bytes;    /* storage served a pass, too, most of whose time so many reads took that are longer
                                     * than that, if with so many bytes each they have all of it */
    int32_t *first;     /* of each file its first pass that goes on, a place in `held`, 0 if there is none */
    int64_t *held;      /* TFD_PASS_NUMBERS of each; place 0 is none. Room for one more for each call */
    int64_t used, free; /* places that were ever used; the first free one of them. 1 and 0 at first */
    int64_t *stored_ns, *stored_bytes; /* of each file, of passes that storage served */
};

/* Adds calls, none of which began before those that were added already. */
void tfd_add_passes(struct tfd_passes *passes, const struct tfd_input_calls *calls);
/* Takes the passes that go on as ended. */
void tfd_end_passes(struct tfd_passes *passes, size_t files);

struct tfd_depths {            /* zeros at first */
    double *lasted_ns, *bytes; /* at each depth, TFD_DEEPEST numbers */
    int64_t *end_ns; /* of calls that are running, with room for one more for each call that comes */
    double *rate;    /* bytes a ns of each of these */
    size_t running;
    int64_t now_ns; /* when the first call began, at first */
    double moving;
};

/* Adds calls, none of which began before those that were added already. */
void tfd_add_depths(struct tfd_depths *sums, const struct tfd_input_calls *calls);
/* Has all calls end. */
void tfd_end_depths(struct tfd_depths *sums);

/* ---- in which order files are read ---- */

enum {
    TFD_SIDE_BY_SIDE =
        16, /* reads before one that it may go on after: readers go through a file side by side */
    TFD_READ_ORDER_SUMS =
        6, /* reads at a known offset, those that go on after none of them, bytes, ns added up; all reads; the
              ns of those that go on after none */
};

struct tfd_read_order {      /* all zeros at first, but for `slot` */
    const int32_t *slot;     /* of each file its place in `ends` and `lengths`, -1 if it is not looked at */
    int64_t *ends, *lengths; /* TFD_SIDE_BY_SIDE numbers for each place */
    int64_t *sums;           /* TFD_READ_ORDER_SUMS numbers for each file */
};

/* Adds the reads of data among calls, none of which began before those that were added already; an offset that is not known
 * is -1. */
void tfd_add_read_order(struct tfd_read_order *order, const struct tfd_input_calls *calls,
                        const int64_t *offset);

#endif
