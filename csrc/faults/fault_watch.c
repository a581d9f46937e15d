#define _GNU_SOURCE
#include "faults/fault_watch.h"

#include <time.h>

#include "base/clock.h"
#include "faults/fault_budget.h"
#include "faults/fault_cost.h"
#include "faults/fault_events.h"
#include "faults/fault_pairs.h"
#include "faults/process_usage.h"
#include "mapping/mapping_lock.h"
#include "mapping/range_table.h"

#define SETTLED_NS 1000000 /* after this time a sample is certainly in its ring */
#define SAMPLES_OF_FAULT 2
#define MOST_FAULTS_PER_NS 1e-3 /* assumed rate before faults were counted */
#define FEW_FAULTS_PER_NS 1e-5  /* highest rate for the long tick; the rings hold 10 times as many */
#define SLOW_TICK_NS 250000000  /* tick without events */
#define BESIDES 2 /* cost of a tick in its own times, most of it to the threads that it disturbs */

static struct tfd_spool *spool;
static struct tfd_mapped_files *totals;
static bool has_events, is_on, has_looks;
static struct tfd_blocked blocked; /* times that are not charged to a file yet */
static int64_t last_cpu_ns, last_tick_ns;
static struct tfd_process_usage usage_at_start, usage_at_tick;
static double faults_per_ns, switches_per_ns; /* since the last tick */
static struct tfd_range copied[TFD_RANGES_MAX];

bool tfd_fault_watch_has_events(void)
{
    return has_events;
}

struct tfd_blocked *tfd_fault_watch_blocked(void)
{
    return &blocked;
}

/* Return what the process used since the last tick. Call this before events are opened or closed, so that the counts
 * belong to one of both. */
static struct tfd_process_usage tell_usage(int64_t tick_ns)
{
    struct tfd_process_usage now = tfd_process_usage_now();
    totals->minor_faults = now.minor_faults - usage_at_start.minor_faults;
    totals->major_faults = now.major_faults - usage_at_start.major_faults;
    struct tfd_process_usage used = tfd_process_usage_since(&usage_at_tick, &now);
    int64_t faults = used.minor_faults + used.major_faults;
    usage_at_tick = now;
    totals->sampled_faults += is_on ? faults : 0;
    if (tick_ns > 0) {
        faults_per_ns = (double)faults / (double)tick_ns;
        switches_per_ns = (double)used.switches / (double)tick_ns;
    }
    return used;
}

/* Return the cost of watching: as a share of the process's processor time, or of the time of the thread with most
 * faults, whichever is more. */
static int64_t cost_of(const struct tfd_process_usage *used, const struct tfd_fresh_samples *fresh,
                       uint64_t lost, int64_t cpu_ns, int64_t tick_ns)
{
    cpu_ns *= BESIDES;
    uint64_t threads = fresh->threads ? fresh->threads : 1;
    int64_t busiest_ns = tfd_fault_samples_cost_ns(fresh->busiest + lost / threads);
    int64_t all_ns = tfd_fault_samples_cost_ns(fresh->samples + lost) + cpu_ns;
    if (is_on && used->switches > 0)
        all_ns += tfd_fault_switches_cost_ns((uint64_t)used->switches);
    totals->cost_ns += all_ns;
    if (tick_ns > 0 && used->cpu_ns > tick_ns)
        all_ns = (int64_t)((double)all_ns * (double)tick_ns / (double)used->cpu_ns);
    return busiest_ns > all_ns ? busiest_ns : all_ns;
}

/* Faults under way are counted up to now, and again from when events are reopened. */
static void close_events(void)
{
    tfd_fault_pairs_end_window(tfd_clock_ns(CLOCK_MONOTONIC));
    tfd_fault_events_close();
}

static bool open_events(int *error, enum tfd_fault_watch *found)
{
    *found = tfd_fault_events_open(error);
    tfd_fault_pairs_begin_window(tfd_fault_events_are_whole() ? tfd_clock_ns(CLOCK_MONOTONIC) : 0);
    return *found == TFD_FAULTS_WATCHED;
}

static void switch_events(bool on)
{
    int error;
    enum tfd_fault_watch found;
    int64_t begin_ns = tfd_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    if (on)
        is_on = open_events(&error, &found);
    else
        close_events(), is_on = false;
    last_cpu_ns = tfd_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    totals->cost_ns += last_cpu_ns - begin_ns;
    tfd_fault_budget_switched(last_cpu_ns - begin_ns);
}

/* Close events while they would cost more than their share, and reopen them. */
static void keep_budget(int64_t tick_ns, const struct tfd_process_usage *used,
                        const struct tfd_fresh_samples *fresh, uint64_t lost)
{
    int64_t now_cpu_ns = tfd_clock_ns(CLOCK_THREAD_CPUTIME_ID), cpu_ns = now_cpu_ns - last_cpu_ns;
    last_cpu_ns = now_cpu_ns;
    totals->watched_ns += tick_ns;
    totals->sampled_ns += is_on ? tick_ns : 0;
    bool on = tfd_fault_budget_spend(tick_ns, cost_of(used, fresh, lost, cpu_ns, tick_ns), is_on);
    if (on != is_on)
        switch_events(on);
}

static void work_up_faults(int64_t before_ns)
{
    uint64_t lost = 0;
    size_t count = 0;
    tfd_fault_pairs_begin_drain();
    tfd_fault_events_drain(tfd_fault_pairs_take, &lost);
    totals->lost += lost;
    struct tfd_fresh_samples fresh = tfd_fault_pairs_fresh();
    if (tfd_fault_pairs_waiting()) {
        tfd_mapping_lock();
        count = tfd_ranges_copy(copied);
        tfd_mapping_unlock();
        tfd_ranges_sort(copied, count);
    }
    if (lost)
        tfd_fault_pairs_begin_window(0);
    tfd_fault_pairs_work(spool, totals, copied, count, before_ns);
    int64_t now = tfd_clock_ns(CLOCK_MONOTONIC), tick_ns = now - last_tick_ns;
    struct tfd_process_usage used = tell_usage(tick_ns);
    keep_budget(tick_ns, &used, &fresh, lost);
    last_tick_ns = now;
}

/* Sample threads in place of events; return the time until the next sample. */
static int64_t look_at_threads(void)
{
    tfd_mapping_lock();
    size_t mapped = tfd_ranges_live();
    tfd_mapping_unlock();
    if (!has_looks || !mapped)
        return SLOW_TICK_NS;
    tell_usage(0);
    int64_t wait_ns = blocked.wait_ns, busy_ns = blocked.busy_ns;
    int64_t until_ns = tfd_blocked_threads_look(&blocked, totals->minor_faults + totals->major_faults);
    totals->looks = blocked.looks;
    totals->cost_ns = blocked.cost_ns;
    totals->blocked_ns += blocked.wait_ns - wait_ns;
    totals->blocked_busy_ns += blocked.busy_ns - busy_ns;
    return until_ns;
}

/* Something was unmapped since the last tick, and it is not known what. */
static void end_all_ranges(void)
{
    tfd_mapping_lock();
    totals->ranges_lost += (uint32_t)tfd_ranges_live();
    tfd_ranges_end_all(last_tick_ns - SETTLED_NS);
    tfd_mapping_unlock();
}

void tfd_fault_watch_tick(bool is_last)
{
    int64_t begin_ns = tfd_clock_ns(CLOCK_MONOTONIC);
    if (tfd_ranges_were_distrusted())
        end_all_ranges();
    if (has_events) {
        if (is_on)
            tfd_fault_events_follow_threads();
        work_up_faults(is_last ? INT64_MAX : begin_ns - SETTLED_NS);
    } else
        tell_usage(0);
    tfd_mapping_lock();
    tfd_ranges_forget(begin_ns - 2 * TFD_FAULT_LONGEST_TICK_NS);
    tfd_mapping_unlock();
}

static int64_t fault_tick_ns(void)
{
    bool are_few = faults_per_ns <= FEW_FAULTS_PER_NS && !tfd_fault_budget_is_all();
    return are_few ? TFD_FAULT_LONGEST_TICK_NS : TFD_FAULT_TICK_NS;
}

int64_t tfd_fault_watch_tick_ns(void)
{
    return is_on ? fault_tick_ns() : SLOW_TICK_NS;
}

int64_t tfd_fault_watch_wait_ns(void)
{
    if (!has_events)
        return look_at_threads();
    if (!is_on)
        return tfd_fault_budget_waits_ns(SLOW_TICK_NS);
    return tfd_fault_budget_lasts_ns(faults_per_ns * (double)tfd_fault_samples_cost_ns(SAMPLES_OF_FAULT) +
                                         switches_per_ns * (double)tfd_fault_switches_cost_ns(1),
                                     fault_tick_ns());
}

static enum tfd_fault_watch begin_to_see(int *error)
{
    enum tfd_fault_watch found;
    int64_t begin_ns = tfd_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    has_events = is_on = open_events(error, &found);
    int64_t opened_ns = tfd_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
    if (has_events)
        tfd_fault_cost_measure();
    else
        has_looks = tfd_blocked_threads_begin();
    tfd_fault_budget_begin(tfd_clock_ns(CLOCK_THREAD_CPUTIME_ID), opened_ns);
    return found;
}

void tfd_fault_watch_begin(struct tfd_spool *into, struct tfd_mapped_files *of_spool, bool has_table,
                           int error)
{
    spool = into;
    totals = of_spool;
    has_events = is_on = has_looks = false;
    blocked = (struct tfd_blocked){0};
    totals->watch = has_table ? begin_to_see(&error) : TFD_FAULTS_NO_TABLE;
    totals->error = error;
    last_cpu_ns = tfd_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    totals->cost_ns += last_cpu_ns;
    faults_per_ns = MOST_FAULTS_PER_NS;
    last_tick_ns = tfd_clock_ns(CLOCK_MONOTONIC);
    usage_at_start = usage_at_tick = tfd_process_usage_now();
}

void tfd_fault_watch_end(void)
{
    tfd_blocked_threads_end();
    if (is_on)
        close_events();
    tfd_fault_pairs_reset();
}

void tfd_fault_watch_reset_in_child(void)
{
    tfd_fault_events_reset_in_child();
    tfd_blocked_threads_reset_in_child();
    tfd_fault_pairs_reset_in_child();
}
