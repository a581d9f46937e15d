/* How long a job takes as a queueing network: the model is described in tfdarshan/replay/job_model.py. The only header
 * cffi reads for this extension. Nothing is allocated, and all times are in seconds. */
#ifndef TFD_REPLAY_H
#define TFD_REPLAY_H

#include <stddef.h>
#include <stdint.h>

/* Numbers by task or batch, and by sample: an element is `first[row * by_row + sample * by_sample]`. Where `by_sample`
 * is 0 all samples have the same. */
struct tfd_replay_table {
    const double *first;
    int64_t by_row;
    int64_t by_sample;
};

struct tfd_replay_job {
    size_t batches;
    size_t samples;
    size_t rests;              /* that a server remembers, at least 1 */
    const int64_t *first_task; /* of each batch, and at last where tasks end: batches + 1 */
    const double
        *late_s; /* of each batch, how long after its request its epoch begins: NaN inside an epoch */
    const double *weight;            /* of each batch, how many it stands for */
    struct tfd_replay_table limit_s; /* of tasks */
    struct tfd_replay_table wait_s;
    struct tfd_replay_table transfer_s;
    struct tfd_replay_table seek_s;
    struct tfd_replay_table work_s;
    struct tfd_replay_table behind_s;
    struct tfd_replay_table compute_s; /* of batches */
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
    double *free_s;   /* room for as many readers as a sample has at most */
    double *used_s;   /* room for all tasks */
    double *rests_s;  /* room for TFD_REPLAY_SERVERS * rests * 2 */
    double *ask_s;    /* the result: when the loop asked for its batches, and ended, (batches + 1, samples) */
    double *got_s;    /* and when it got them, (batches, samples) */
    double *called_s; /* what calls took, of all tasks that these stand for, (samples) */
};

enum { TFD_REPLAY_SERVERS = 4 };

void tfd_replay_run(const struct tfd_replay_job *job);

#endif
