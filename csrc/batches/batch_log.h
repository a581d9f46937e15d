/* What a process notes of its steps and batches: rows in a file of the spool folder, whose end is mapped into memory,
 * so that rows stay if the process is killed. Each process has a file of its own. All of this runs under Python's
 * lock. */
#ifndef TFDARSHAN_BATCHES_BATCH_LOG_H
#define TFDARSHAN_BATCHES_BATCH_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TFD_BATCH_MAGIC "TFDBATCH"
#define TFD_BATCH_VERSION 2
#define TFD_BATCH_SUFFIX ".batches"

enum tfd_batch_kind {
    TFD_BATCH_NONE,
    TFD_BATCH_START,     /* an iterator was made */
    TFD_BATCH_REQUEST,   /* a batch was requested and came, or did not */
    TFD_BATCH_END,       /* an iterator is gone */
    TFD_BATCH_FETCH,     /* a worker, or the loop's own thread, put a batch together */
    TFD_BATCH_OPTIMIZER, /* an optimizer has stepped */
    TFD_BATCH_TEXT,      /* part of a note */
    TFD_BATCH_STEP,      /* a step that the job marked has ended */
    TFD_BATCH_EXPOSED,   /* of the wait that began at begin_ns, the GPU was idle for end_ns - begin_ns */
};

enum tfd_batch_outcome { TFD_BATCH_CAME, TFD_BATCH_STOPPED, TFD_BATCH_FAILED };

struct tfd_batch_times {
    int64_t begin_ns; /* since the epoch: tfd_batch_log_now() */
    int64_t end_ns;
    int64_t thread;
    int32_t pass;    /* of an iterator, or of what puts batches together */
    int32_t ordinal; /* within the pass, from 0; of an optimizer's step, which one it is */
    int32_t worker;  /* -1: none, or unknown */
    int32_t queued;  /* batches that lay ready in the queue */
    int32_t kept;    /* batches that were kept aside, as it was not their turn */
    int32_t unused;
};

/* -1 stands for what nothing says. */
struct tfd_batch_step {
    int64_t begin_ns; /* since the epoch: tfd_batch_log_now() */
    int64_t end_ns;
    int64_t number;
    int64_t wait_ns;
    int64_t rchar;
    int64_t read_bytes;
    int32_t epoch;
    int32_t source; /* place in SOURCES of tfdarshan/frameworks/marked_steps.py */
};

struct tfd_batch_row {
    int32_t kind;
    int32_t outcome; /* of text, how many bytes of it follow in later rows; of a step, which loop it is of */
    union {
        struct tfd_batch_times times;
        struct tfd_batch_step step;
        char text[sizeof(struct tfd_batch_times)];
    };
};

struct tfd_batch_header {
    char magic[8];
    uint32_t version;
    uint32_t row_bytes;
    uint64_t rows;
    uint64_t left_out;
    int64_t pid;
    int64_t unused[3];
};

/* What CLOCK_REALTIME is ahead of CLOCK_MONOTONIC now. */
int64_t tfd_realtime_ahead_ns(void);
/* Begins to note into `folder`: the file is made at once, while there is room, a child's with its first row. Times are
 * of CLOCK_MONOTONIC, which nobody sets, as those of file calls are; `ahead_ns` later they are ns since the epoch. */
void tfd_batch_log_begin(const char *folder, int64_t ahead_ns);
int64_t tfd_batch_log_ahead_ns(void);
void tfd_batch_log_end(void);
/* 0 while nothing is noted; else another number for each time that noting began. */
uint64_t tfd_batch_log_session(void);
/* Call it before anything else: true in a process that was forked since the last call. */
bool tfd_batch_log_forked(void);
/* ns since the epoch, as CLOCK_REALTIME was set when the session began. */
int64_t tfd_batch_log_now(void);
/* The thread is this one, whatever `times` says. */
void tfd_batch_log_add(enum tfd_batch_kind kind, enum tfd_batch_outcome outcome,
                       struct tfd_batch_times times);
/* A process that was forked has no steps of the session: they are those of its owner. Each thread that marks steps
 * has a loop, the first one loop 0. */
void tfd_batch_log_add_step(int32_t loop, struct tfd_batch_step step);
void tfd_batch_log_note(const char *text, size_t length);

#endif
