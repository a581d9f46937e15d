/* Simulates a job as a queueing network, which tfdarshan/replay/job_model.py describes. The only header that cffi reads
 * for this extension. Nothing is allocated, and all times are in seconds. */
#ifndef TFD_REPLAY_H
#define TFD_REPLAY_H

#include <stddef.h>
#include <stdint.h>

/* Numbers by task or batch, and by sample: an element is `first[row * by_row + sample * by_sample]`. If `by_sample` is
 * 0, all samples have the same numbers. */
struct tfd_replay_table {
    const double *first;
    int64_t by_row;
    int64_t by_sample;
};

struct tfd_replay_job {
    size_t batches;
    size_t samples;
    size_t rests;    /* rests that a server remembers, at least 1 */
    size_t in_turns; /* 1: a task is many calls, which take turns with those of the tasks beside it */
    const int64_t *first_task;       /* first task of each batch, then the number of tasks: (batches + 1) */
    const double *weight;            /* number of batches that each batch stands for */
    struct tfd_replay_table limit_s; /* of tasks */
    struct tfd_replay_table wait_s;
    struct tfd_replay_table transfer_s;
    struct tfd_replay_table seek_s;
    struct tfd_replay_table work_s;
    struct tfd_replay_table behind_s;
    struct tfd_replay_table
        late_s; /* of batches: from a request to the beginning of its epoch; NaN inside an epoch */
    struct tfd_replay_table compute_s;
    struct tfd_replay_table write_s;
    struct tfd_replay_table stall_s;
    struct tfd_replay_table hand_s;
    struct tfd_replay_table beside_s;
    const double *burst_s; /* of samples */
    const double *wait_serial;
    const double *transfer_serial;
    const double *work_serial;
    const double *behind_serial;
    const int64_t *readers;
    const int64_t *calls_ahead;
    const int64_t *batches_ahead;
    const int64_t *in_order; /* 0: a finished task passes those before it that are not */
    double *free_s;          /* room for the most readers of a sample */
    double *used_s;          /* room for all tasks */
    double *end_s;           /* room for all tasks */
    int64_t *open;           /* room for all tasks */
    double *rests_s;         /* room for TFD_REPLAY_SERVERS * rests * 2 */
    double *ask_s;    /* result: times of the loop's requests, then of its end, (batches + 1, samples) */
    double *got_s;    /* result: times at which the loop got its batches, (batches, samples) */
    double *called_s; /* result: time in calls of all tasks that these stand for, (samples) */
};

enum { TFD_REPLAY_SERVERS = 4 };

void tfd_replay_run(const struct tfd_replay_job *job);

#endif
