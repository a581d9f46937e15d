#include "offline/replay/readers.h"
#include "offline/replay/replay.h"
#include "offline/replay/server.h"

#include <math.h>

/* The run of one sample, batch by batch. Tasks begin in order. Those that have begun and are not part of a batch are
 * open. */
struct run {
    const struct tfd_replay_job *job;
    size_t sample;
    struct tfd_replay_readers readers;
    struct tfd_replay_server limit, storage, processors, behind;
    int64_t first_batch, first_task; /* of the epoch */
    int64_t end_task;                /* behind the tasks that may begin before the next epoch */
    int64_t begun, used, opened;     /* tasks that have begun, that are part of a batch, and that are open */
    int64_t begun_batch;             /* of the last task that has begun */
    double begin_s;                  /* when the epoch began */
    double parsed_s;                 /* when the readers had finished all tasks so far */
    double ready_s;                  /* when all tasks so far could be batched */
    double called_s;                 /* time in calls of all tasks so far */
};

static double value(const struct tfd_replay_table *table, int64_t row, size_t sample)
{
    return table->first[row * table->by_row + (int64_t)sample * table->by_sample];
}

static double at(const struct run *run, const struct tfd_replay_table *table, int64_t row)
{
    return value(table, row, run->sample);
}

static double *asked(const struct run *run, int64_t batch)
{
    return run->job->ask_s + (size_t)batch * run->job->samples + run->sample;
}

static double *got(const struct run *run, int64_t batch)
{
    return run->job->got_s + (size_t)batch * run->job->samples + run->sample;
}

/* Return the task behind those that may begin before the epoch after a batch's does. */
static int64_t end_of_epoch(const struct tfd_replay_job *job, int64_t batch)
{
    int64_t next = batch + 1;
    while (next < (int64_t)job->batches && isnan(value(&job->late_s, next, 0)))
        next++;
    return next < (int64_t)job->batches ? job->first_task[next] : job->first_task[job->batches];
}

static void begin_run(struct run *run, const struct tfd_replay_job *job, size_t sample)
{
    struct tfd_replay_rest *room = (struct tfd_replay_rest *)job->rests_s;
    *run = (struct run){.job = job, .sample = sample, .end_task = end_of_epoch(job, 0)};
    struct tfd_replay_server *servers[TFD_REPLAY_SERVERS] = {&run->limit, &run->storage, &run->processors,
                                                             &run->behind};
    for (size_t i = 0; i < TFD_REPLAY_SERVERS; i++)
        tfd_replay_open(servers[i], room + i * job->rests, job->rests);
    tfd_replay_gather(&run->readers, job->free_s, job->readers[sample]);
    *asked(run, 0) = 0;
}

static void begin_epoch(struct run *run, int64_t batch)
{
    double late_s = at(run, &run->job->late_s, batch);
    if (isnan(late_s))
        return;
    run->begin_s = *asked(run, batch) + late_s;
    run->first_batch = batch;
    run->first_task = run->job->first_task[batch];
    run->end_task = end_of_epoch(run->job, batch);
}

/* Return when the producer begins a batch: once there is room and the last batch is ready. */
static double put_together_from(const struct run *run, int64_t batch)
{
    int64_t ahead = run->job->batches_ahead[run->sample];
    double room_s = run->begin_s;
    if (batch - ahead >= run->first_batch)
        room_s = ahead > 0 ? *got(run, batch - ahead) : *asked(run, batch);
    return tfd_replay_later(tfd_replay_later(room_s, run->begin_s), run->ready_s);
}

/* Return the time from which on the next task may begin; infinite if others have to be part of a batch first. */
static double room_from(const struct run *run, int64_t batch, double put_together_s)
{
    int64_t ahead = run->job->calls_ahead[run->sample];
    if (run->begun == run->end_task || (ahead <= 0 && run->begun == run->job->first_task[batch + 1]))
        return INFINITY;
    if (ahead <= 0)
        return put_together_s;
    if (run->begun - ahead < run->first_task)
        return run->begin_s;
    return run->begun - ahead < run->used ? run->job->used_s[run->begun - ahead] : INFINITY;
}

/* Return when a station has served a task: the serialized part one task at a time, the rest in parallel. */
static double served(struct tfd_replay_server *server, double at_s, double serial_s, double whole_s)
{
    return tfd_replay_serve(server, at_s, serial_s) + (whole_s - serial_s);
}

/* Return when a task has passed the rate limit, a token bucket: a burst after a rest passes at once. */
static double passed(struct run *run, int64_t task, double at_s)
{
    double passed_s = tfd_replay_serve(&run->limit, at_s, at(run, &run->job->limit_s, task));
    return tfd_replay_later(at_s, passed_s - run->job->burst_s[run->sample]);
}

/* Return what of a task storage serves one task at a time. */
static double stored_in_turn(const struct run *run, int64_t task)
{
    const struct tfd_replay_job *job = run->job;
    return at(run, &job->wait_s, task) * job->wait_serial[run->sample] +
           at(run, &job->transfer_s, task) * job->transfer_serial[run->sample] + at(run, &job->seek_s, task);
}

static double stored(struct run *run, int64_t task, double at_s, double serial_s)
{
    const struct tfd_replay_job *job = run->job;
    double whole_s =
        at(run, &job->wait_s, task) + at(run, &job->transfer_s, task) + at(run, &job->seek_s, task);
    return served(&run->storage, at_s, serial_s, whole_s);
}

/* Return how many readers work on a task from its beginning on: those that do already, and those that begin then. */
static int64_t at_work(const struct run *run, double begin_s)
{
    int64_t ahead = run->job->calls_ahead[run->sample], free = 0, next = run->begun;
    for (size_t i = 0; i < run->readers.count; i++)
        free += !(run->readers.free_s[i] > begin_s);
    int64_t busy = (int64_t)run->readers.count - free, begins = 1;
    for (; begins < free && next < run->end_task && next - ahead < run->used; next++, begins++)
        if (next - ahead >= run->first_task && run->job->used_s[next - ahead] > begin_s)
            break;
    return busy + begins;
}

static double weight_of(struct run *run, int64_t task)
{
    while (task >= run->job->first_task[run->begun_batch + 1])
        run->begun_batch++;
    return run->job->weight[run->begun_batch];
}

/* Let the reader that is free first do the next task. */
static void begin_task(struct run *run, double room_s)
{
    const struct tfd_replay_job *job = run->job;
    int64_t task = run->begun++;
    double begin_s = tfd_replay_later(run->readers.free_s[0], room_s);
    double stored_in_turn_s = stored_in_turn(run, task);
    double stored_s = stored(run, task, passed(run, task, begin_s), stored_in_turn_s);
    run->called_s += (stored_s - begin_s) * weight_of(run, task);
    double work_s = at(run, &job->work_s, task), worked_in_turn_s = work_s * job->work_serial[run->sample];
    double end_s = served(&run->processors, stored_s, worked_in_turn_s, work_s);
    if (job->in_turns) {
        double turn_s = tfd_replay_later(stored_in_turn_s, worked_in_turn_s);
        end_s = tfd_replay_later(end_s, begin_s + (double)at_work(run, begin_s) * turn_s);
    }
    tfd_replay_busy(&run->readers, end_s);
    job->end_s[task] = end_s;
    job->open[run->opened++] = task;
}

/* Return the place of the open task that ends first; of the first one if tasks keep their order. */
static int64_t next_open(const struct run *run)
{
    const struct tfd_replay_job *job = run->job;
    int64_t next = 0;
    for (int64_t i = 1; i < run->opened && !job->in_order[run->sample]; i++)
        if (job->end_s[job->open[i]] < job->end_s[job->open[next]])
            next = i;
    return next;
}

/* Begin all tasks that begin before the next open one ends. A task that keeps its order waits for no later one. */
static void begin_tasks(struct run *run, int64_t batch, double put_together_s)
{
    const struct tfd_replay_job *job = run->job;
    while (!run->opened || !job->in_order[run->sample]) {
        double room_s = room_from(run, batch, put_together_s);
        double begin_s = tfd_replay_later(run->readers.free_s[0], room_s);
        if (run->opened && !(begin_s < job->end_s[job->open[next_open(run)]]))
            return;
        begin_task(run, room_s);
    }
}

/* Add the next open task to a batch. */
static void use_task(struct run *run, int64_t batch, double put_together_s)
{
    const struct tfd_replay_job *job = run->job;
    begin_tasks(run, batch, put_together_s);
    int64_t place = next_open(run), task = job->open[place];
    job->open[place] = job->open[--run->opened];
    double behind_s = at(run, &job->behind_s, task);
    run->parsed_s = tfd_replay_later(run->parsed_s, job->end_s[task]);
    double end_s = served(&run->behind, run->parsed_s, behind_s * job->behind_serial[run->sample], behind_s);
    run->ready_s = tfd_replay_later(run->ready_s, end_s);
    job->used_s[run->used++] = tfd_replay_later(run->ready_s, put_together_s);
}

static double written(struct run *run, double at_s, double write_s)
{
    double serial_s = write_s * run->job->transfer_serial[run->sample];
    return served(&run->storage, at_s, serial_s, write_s);
}

/* Let the loop take a batch, compute, write and pause. */
static void train(struct run *run, int64_t batch)
{
    const struct tfd_replay_job *job = run->job;
    double got_s = tfd_replay_later(*asked(run, batch), run->ready_s) + at(run, &job->hand_s, batch);
    double computed_s = got_s + at(run, &job->compute_s, batch);
    double written_s = written(run, computed_s, at(run, &job->write_s, batch));
    written(run, written_s, at(run, &job->beside_s, batch));
    *got(run, batch) = got_s;
    *asked(run, batch + 1) = written_s + at(run, &job->stall_s, batch);
}

static void run_batch(struct run *run, int64_t batch)
{
    begin_epoch(run, batch);
    double put_together_s = put_together_from(run, batch);
    for (int64_t task = run->job->first_task[batch]; task < run->job->first_task[batch + 1]; task++)
        use_task(run, batch, put_together_s);
    train(run, batch);
}

void tfd_replay_run(const struct tfd_replay_job *job)
{
    struct run run;
    for (size_t sample = 0; sample < job->samples; sample++) {
        begin_run(&run, job, sample);
        for (int64_t batch = 0; batch < (int64_t)job->batches; batch++)
            run_batch(&run, batch);
        job->called_s[sample] = run.called_s;
    }
}
