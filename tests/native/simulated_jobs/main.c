/* Random jobs are run for all samples at once and sample by sample, and jobs of one reader against a sum. Each array
 * has exactly the room that it needs. Times are multiples of 1/1024 s and shares of 1/4, so sums are exact. */
#define _GNU_SOURCE
#include "check.h"
#include "offline/replay/replay.h"

#include <math.h>

enum { MOST_BATCHES = 12, MOST_TASKS_EACH = 5, MOST_SAMPLES = 5 };
enum { OF_TASKS = 6, OF_BATCHES = 6, SHARES = 5, COUNTS = 4 };

static uint64_t state = 88172645463325252ull;

static int64_t below(int64_t limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (int64_t)(state % (uint64_t)limit);
}

static void *room_for(size_t count)
{
    void *room = malloc(count * sizeof(double));
    CHECK(room || !count);
    return room;
}

static int64_t tasks_of(const struct tfd_replay_job *job)
{
    return job->first_task[job->batches];
}

/* Fields that follow each other in the struct. */
static struct tfd_replay_table *table_of(struct tfd_replay_job *job, int which)
{
    return (struct tfd_replay_table *)(void *)((char *)job + offsetof(struct tfd_replay_job, limit_s)) +
           which;
}

static const double **shares_of(struct tfd_replay_job *job, int which)
{
    return (const double **)(void *)((char *)job + offsetof(struct tfd_replay_job, burst_s)) + which;
}

static const int64_t **counts_of(struct tfd_replay_job *job, int which)
{
    return (const int64_t **)(void *)((char *)job + offsetof(struct tfd_replay_job, readers)) + which;
}

/* Half of the tables are the same for all samples. */
static struct tfd_replay_table drawn_table(int64_t rows, int64_t samples)
{
    int64_t columns = below(2) ? samples : 1, most = below(3) ? 40 : 1;
    double *numbers = room_for((size_t)(rows * columns));
    for (int64_t i = 0; i < rows * columns; i++)
        numbers[i] = (double)below(most) / 1024;
    return (struct tfd_replay_table){numbers, columns, columns == samples};
}

static const double *drawn_shares(size_t samples)
{
    double *shares = room_for(samples);
    for (size_t i = 0; i < samples; i++)
        shares[i] = (double)below(5) / 4;
    return shares;
}

static const int64_t *drawn_counts(size_t samples, int64_t least, int64_t most)
{
    int64_t *counts = room_for(samples);
    for (size_t i = 0; i < samples; i++)
        counts[i] = least + below(most - least + 1);
    return counts;
}

/* An epoch begins with the same batch in all samples, in each of them as late as it is. */
static struct tfd_replay_table drawn_epochs(int64_t batches, int64_t samples)
{
    struct tfd_replay_table late_s = drawn_table(batches, samples);
    double *numbers = (double *)late_s.first;
    for (int64_t i = 0; i < batches; i++)
        if (below(3))
            for (int64_t j = 0; j < late_s.by_row; j++)
                numbers[i * late_s.by_row + j] = NAN;
    return late_s;
}

static void draw_batches(struct tfd_replay_job *job, int64_t least_tasks)
{
    int64_t *first_task = room_for(job->batches + 1), task = 0;
    double *weight = room_for(job->batches);
    for (size_t i = 0; i < job->batches; i++) {
        first_task[i] = task;
        task += least_tasks + below(MOST_TASKS_EACH);
        weight[i] = (double)(1 + below(3));
    }
    first_task[job->batches] = task;
    job->first_task = first_task;
    job->weight = weight;
}

static void make_room(struct tfd_replay_job *job, int64_t readers)
{
    job->free_s = room_for((size_t)readers);
    job->used_s = room_for((size_t)tasks_of(job));
    job->end_s = room_for((size_t)tasks_of(job));
    job->open = room_for((size_t)tasks_of(job));
    job->rests_s = room_for(TFD_REPLAY_SERVERS * job->rests * 2);
    job->ask_s = room_for((job->batches + 1) * job->samples);
    job->got_s = room_for(job->batches * job->samples);
    job->called_s = room_for(job->samples);
}

static void draw(struct tfd_replay_job *job, int64_t least_tasks, int64_t readers)
{
    *job = (struct tfd_replay_job){.batches = (size_t)below(MOST_BATCHES + 1),
                                   .samples = (size_t)below(MOST_SAMPLES + 1),
                                   .rests = 1 + (size_t)below(4),
                                   .in_turns = (size_t)below(2)};
    draw_batches(job, least_tasks);
    for (int i = 0; i < OF_TASKS + OF_BATCHES; i++)
        *table_of(job, i) =
            drawn_table(i < OF_TASKS ? tasks_of(job) : (int64_t)job->batches, (int64_t)job->samples);
    free((void *)job->late_s.first);
    job->late_s = drawn_epochs((int64_t)job->batches, (int64_t)job->samples);
    for (int i = 0; i < SHARES; i++)
        *shares_of(job, i) = drawn_shares(job->samples);
    job->readers = drawn_counts(job->samples, 1, readers);
    job->calls_ahead = drawn_counts(job->samples, 0, 7);
    job->batches_ahead = drawn_counts(job->samples, 0, 3);
    job->in_order = drawn_counts(job->samples, 0, 1);
    make_room(job, readers);
}

static void drop_room(struct tfd_replay_job *job)
{
    void *room[] = {job->free_s,  job->used_s, job->end_s, job->open,
                    job->rests_s, job->ask_s,  job->got_s, job->called_s};
    for (size_t i = 0; i < sizeof room / sizeof *room; i++)
        free(room[i]);
}

static void drop(struct tfd_replay_job *job)
{
    drop_room(job);
    for (int i = 0; i < OF_TASKS + OF_BATCHES; i++)
        free((void *)table_of(job, i)->first);
    for (int i = 0; i < SHARES; i++)
        free((void *)*shares_of(job, i));
    for (int i = 0; i < COUNTS; i++)
        free((void *)*counts_of(job, i));
    free((void *)job->first_task);
    free((void *)job->weight);
}

/* The job of one sample, whose tables are columns of the whole job's. */
static struct tfd_replay_job alone(const struct tfd_replay_job *whole, size_t sample)
{
    struct tfd_replay_job job = *whole;
    job.samples = 1;
    for (int i = 0; i < OF_TASKS + OF_BATCHES; i++)
        table_of(&job, i)->first += (int64_t)sample * table_of(&job, i)->by_sample;
    for (int i = 0; i < SHARES; i++)
        *shares_of(&job, i) += sample;
    for (int i = 0; i < COUNTS; i++)
        *counts_of(&job, i) += sample;
    make_room(&job, job.readers[0]);
    return job;
}

static void check_samples_alone(void)
{
    struct tfd_replay_job job;
    draw(&job, 0, 6);
    tfd_replay_run(&job);
    for (size_t sample = 0; sample < job.samples; sample++) {
        struct tfd_replay_job one = alone(&job, sample);
        tfd_replay_run(&one);
        for (size_t i = 0; i <= job.batches; i++)
            CHECK(one.ask_s[i] == job.ask_s[i * job.samples + sample]);
        for (size_t i = 0; i < job.batches; i++) {
            CHECK(one.got_s[i] == job.got_s[i * job.samples + sample]);
            CHECK(one.ask_s[i] <= one.got_s[i] && one.got_s[i] <= one.ask_s[i + 1]);
        }
        CHECK(one.called_s[0] == job.called_s[sample]);
        drop_room(&one);
    }
    drop(&job);
}

static double cell(const struct tfd_replay_table *table, int64_t row, size_t sample)
{
    return table->first[row * table->by_row + (int64_t)sample * table->by_sample];
}

/* What one reader and one loop take that wait for each other. */
static double sum_of(struct tfd_replay_job *job, size_t sample)
{
    double sum_s = 0;
    for (int64_t batch = 0; batch < (int64_t)job->batches; batch++) {
        double late_s = cell(&job->late_s, batch, sample);
        sum_s += isnan(late_s) ? 0 : late_s;
        sum_s += cell(&job->compute_s, batch, sample) + cell(&job->write_s, batch, sample);
        sum_s += cell(&job->stall_s, batch, sample) + cell(&job->hand_s, batch, sample);
    }
    for (int64_t task = 0; task < tasks_of(job); task++)
        for (int i = 0; i < OF_TASKS; i++)
            sum_s += cell(table_of(job, i), task, sample);
    return sum_s;
}

/* What storage takes for its tasks, of which each counts as often as its batch. */
static double called_of(struct tfd_replay_job *job, size_t sample)
{
    double sum_s = 0;
    for (int64_t batch = 0; batch < (int64_t)job->batches; batch++)
        for (int64_t task = job->first_task[batch]; task < job->first_task[batch + 1]; task++)
            sum_s +=
                job->weight[batch] * (cell(&job->wait_s, task, sample) + cell(&job->seek_s, task, sample) +
                                      cell(&job->transfer_s, task, sample));
    return sum_s;
}

/* Nothing is limited, parsed behind the reader, or written beside the loop. */
static void check_one_reader(void)
{
    static const double none = 0;
    struct tfd_replay_job job, serial;
    draw(&job, 1, 1);
    serial = job;
    serial.limit_s = serial.behind_s = serial.beside_s = (struct tfd_replay_table){&none, 0, 0};
    serial.calls_ahead = serial.batches_ahead = calloc(job.samples, sizeof *serial.calls_ahead);
    tfd_replay_run(&serial);
    for (size_t sample = 0; sample < job.samples; sample++) {
        CHECK(serial.ask_s[job.batches * job.samples + sample] == sum_of(&serial, sample));
        CHECK(serial.called_s[sample] == called_of(&serial, sample));
    }
    free((void *)serial.calls_ahead);
    drop(&job);
}

int main(int argc, char **argv)
{
    for (long i = check_repeats(argc, argv, 2000); i > 0; i--) {
        check_samples_alone();
        check_one_reader();
    }
    return 0;
}
