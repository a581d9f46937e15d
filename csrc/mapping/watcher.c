#define _GNU_SOURCE
#include "mapping/watcher.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "mapping/blocked_threads.h"
#include "mapping/fault_budget.h"
#include "mapping/fault_cost.h"
#include "mapping/fault_events.h"
#include "mapping/fault_pairs.h"
#include "mapping/mapped_files.h"
#include "mapping/page_cache.h"
#include "mapping/range_table.h"
#include "recorder/session.h"

#define TICK_NS 20000000       /* the rings hold 650,000 samples a second for so long */
#define SETTLED_NS 1000000     /* so long after its time a sample is in its ring for certain */
#define LOOK_NS 500000000      /* between two looks at the page cache */
#define LOOK_SHARE 400         /* looks take one part in so many of the time, or come more rarely */
#define PATIENCE_NS 100000000  /* that a thread waits for the watcher */
#define WAIT_SHARE 100         /* all waits together take one part in so many of the time */
#define STUCK_NS 5000000000    /* within which a thread that got no processor ends */
#define LAST_LOOK_NS 500000000 /* that the last looks take, when the host waits for them */
#define MOST_DESCRIPTORS 1024u /* of files that it looks at */
#define SAMPLES_OF_FAULT 2
#define MOST_FAULTS_PER_NS 1e-3 /* as long as nothing is known of them */
#define SLOW_TICK_NS 250000000  /* where there are no events to take */

enum state { NOT_RUNNING, STARTING, WATCHING, ENDED };
enum posted { NOTHING, POSTED, IN_SERVICE };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER, request_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t thread;
static _Atomic uint32_t state, bell, stop_asked, settle_asked;
static _Atomic int64_t waited_ns, started_ns; /* by threads that map files; when the thread was started */

/* What a thread that maps a file asks for. */
static struct {
    _Atomic uint32_t posted; /* enum posted */
    uint64_t file;
    int fd;
    int32_t tid; /* whose descriptor that is */
} request;

/* Of the watching thread alone. */
static struct tfd_spool spool;
static uint32_t generation;
static struct tfd_mapped_files *totals;
static struct watched {
    uint64_t file;
    int fd;
    bool is_held;  /* it is mapped still */
    int64_t grown; /* bytes that came in, at the last look */
} watched[MOST_DESCRIPTORS];
static uint32_t watched_count;
static bool has_events, is_on, has_table, has_looks;
static struct tfd_blocked blocked; /* what no file has yet of these times */
static int64_t next_tick_ns;
static int64_t last_cpu_ns, last_tick_ns, next_look_ns;
static struct usage { /* of the process without the watching thread, but for its processor time */
    int64_t minor_faults, major_faults, switches, cpu_ns;
} usage_at_start, usage_at_tick;
static double faults_per_ns, switches_per_ns; /* since the last tick */
static struct tfd_range copied[TFD_RANGES_MAX];

void tfd_watch_lock(void)
{
    pthread_mutex_lock(&lock);
}

void tfd_watch_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

static int64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

static void futex_wait(_Atomic uint32_t *word, uint32_t value, int64_t for_ns)
{
    struct timespec timeout = {for_ns / 1000000000, for_ns % 1000000000};
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &timeout, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static void ring_bell(void)
{
    atomic_fetch_add(&bell, 1);
    futex_wake(&bell);
}

/* Waits while the word has this value; false after `for_ns`. */
static bool wait_while(_Atomic uint32_t *word, uint32_t value, int64_t for_ns)
{
    int64_t deadline_ns = now_ns() + for_ns;
    for (int64_t left_ns = for_ns; atomic_load(word) == value; left_ns = deadline_ns - now_ns()) {
        if (left_ns <= 0)
            return false;
        futex_wait(word, value, left_ns);
    }
    return true;
}

/* ---- the page cache ---- */

static struct watched *watched_of(uint64_t file)
{
    for (uint32_t i = 0; i < watched_count; i++)
        if (watched[i].file == file)
            return &watched[i];
    return NULL;
}

/* An open of a file of FUSE or of a network may drop its cached pages: of these no look is worth that. */
static bool may_be_opened(const char *path)
{
    static const long local[] = {0xef53,     0x58465342, 0x9123683e, 0x01021994,
                                 0x794c7630, 0xf2f52010, 0x2fc12fc1};
    struct statfs found;
    if (statfs(path, &found))
        return false;
    for (size_t i = 0; i < sizeof local / sizeof *local; i++)
        if ((long)found.f_type == local[i])
            return true;
    return false;
}

static bool is_same_file(const struct tfd_mapped_file *file, const struct stat *status)
{
    return S_ISREG(status->st_mode) && status->st_dev == file->device && status->st_ino == file->inode;
}

/* A name or a number may be another file's by now. */
static int open_file(const struct tfd_mapped_file *file, const char *path)
{
    struct stat status;
    if (stat(path, &status) || !is_same_file(file, &status))
        return -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 || (!fstat(fd, &status) && is_same_file(file, &status)))
        return fd;
    close(fd);
    return -1;
}

static int open_by_path(const struct tfd_mapped_file *file)
{
    char path[PATH_MAX];
    const struct tfd_file *named = tfd_file_at(&spool, file->file);
    if (file->file < TFD_FIRST_FILE || named->path_length >= sizeof path)
        return -1;
    memcpy(path, tfd_at(&spool, named->path), named->path_length);
    path[named->path_length] = '\0';
    return may_be_opened(path) ? open_file(file, path) : -1;
}

/* A copy would keep the locks that belong to an open of the file (flock) when the program closes its own: that is
 * taken only where another open may drop cached pages, and of what is read alone. */
static int copy_of_descriptor(const struct tfd_mapped_file *file, int fd)
{
    struct stat status;
    int process = (int)syscall(SYS_pidfd_open, getpid(), 0);
    int copy = process < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, process, fd, 0);
    if (process >= 0)
        close(process);
    if (copy < 0 || (!fstat(copy, &status) && is_same_file(file, &status) &&
                     (fcntl(copy, F_GETFL) & O_ACCMODE) == O_RDONLY))
        return copy;
    close(copy);
    return -1;
}

/* The file of a thread's descriptor, from a table that is not this thread's. */
static int open_by_descriptor(const struct tfd_mapped_file *file, int32_t tid, int fd)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/fd/%d", (int)tid, fd);
    return may_be_opened(path) ? open_file(file, path) : copy_of_descriptor(file, fd);
}

static void begin_file(uint64_t offset, int32_t tid, int callers_fd)
{
    struct tfd_mapped_file *file = tfd_mapped_file_at(&spool, offset);
    if (watched_of(offset))
        return;
    int fd = watched_count == MOST_DESCRIPTORS ? -1
             : callers_fd < 0                  ? open_by_path(file)
                                               : open_by_descriptor(file, tid, callers_fd);
    if (fd < 0) {
        file->bytes_in = TFD_BYTES_UNKNOWN;
        return;
    }
    watched[watched_count++] = (struct watched){.file = offset, .fd = fd};
    tfd_page_cache_begin(file, fd);
    tfd_watch_lock();
    file->held = 1;
    tfd_watch_unlock();
}

static void serve_request(void)
{
    uint32_t posted = POSTED;
    if (!atomic_compare_exchange_strong(&request.posted, &posted, IN_SERVICE))
        return;
    begin_file(request.file, request.tid, request.fd);
    atomic_store(&request.posted, NOTHING);
    futex_wake(&request.posted);
}

/* Where the host waits for many large files, the bytes of some stay unknown. */
static void look_at_file(struct watched *looked, int64_t until_ns)
{
    struct tfd_mapped_file *file = tfd_mapped_file_at(&spool, looked->file);
    int64_t before = file->bytes_in;
    if (now_ns() < until_ns)
        tfd_page_cache_look(file, looked->fd);
    else
        file->bytes_missed = 1;
    looked->grown = before >= 0 && file->bytes_in > before ? file->bytes_in - before : 0;
}

static void add_blocked(uint64_t file, double share)
{
    struct tfd_mapped_file *mapped = tfd_mapped_file_at(&spool, file);
    mapped->wait_ns += (int64_t)((double)blocked.wait_ns * share);
    mapped->busy_ns += (int64_t)((double)blocked.busy_ns * share);
}

/* Looks at threads show no address: the file whose bytes came in is the one that was waited for. */
static void share_out_blocked(void)
{
    int64_t grown = 0;
    for (uint32_t i = 0; i < watched_count; i++)
        grown += watched[i].grown;
    if (!grown && totals->count != 1)
        return;
    if (totals->count == 1)
        add_blocked(totals->first, 1);
    for (uint32_t i = 0; i < watched_count && totals->count != 1; i++)
        add_blocked(watched[i].file, (double)watched[i].grown / (double)grown);
    blocked.wait_ns = blocked.busy_ns = 0;
}

/* What is mapped no longer is looked at for the last time: an open descriptor would keep a deleted file's storage. Who
 * maps it again from now on asks for it again. */
static void say_what_is_held(struct watched *looked, bool is_last)
{
    tfd_watch_lock();
    looked->is_held = !is_last && tfd_ranges_has_live(looked->file);
    tfd_mapped_file_at(&spool, looked->file)->held = looked->is_held;
    tfd_watch_unlock();
}

static void leave_unmapped(void)
{
    for (uint32_t i = 0; i < watched_count;) {
        if (watched[i].is_held) {
            i++;
            continue;
        }
        close(watched[i].fd);
        watched[i] = watched[--watched_count];
    }
}

static void look_at_files(bool is_last)
{
    int64_t begin_ns = now_ns(), until_ns = is_last ? begin_ns + LAST_LOOK_NS : INT64_MAX;
    for (uint32_t i = 0; i < watched_count; i++) {
        say_what_is_held(&watched[i], is_last);
        look_at_file(&watched[i], until_ns);
    }
    share_out_blocked();
    leave_unmapped();
    int64_t took_ns = now_ns() - begin_ns;
    next_look_ns = begin_ns + (took_ns * LOOK_SHARE > LOOK_NS ? took_ns * LOOK_SHARE : LOOK_NS);
}

/* ---- page faults ---- */

static int64_t cpu_of(const struct rusage *usage)
{
    return (usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * (int64_t)1000000000 +
           (usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) * (int64_t)1000;
}

/* The watching thread's own faults and switches have no events. */
static struct usage usage_now(void)
{
    struct rusage all, own;
    getrusage(RUSAGE_THREAD, &own);
    getrusage(RUSAGE_SELF, &all);
    return (struct usage){
        .minor_faults = all.ru_minflt - own.ru_minflt,
        .major_faults = all.ru_majflt - own.ru_majflt,
        .switches = all.ru_nvcsw + all.ru_nivcsw - own.ru_nvcsw - own.ru_nivcsw,
        .cpu_ns = cpu_of(&all),
    };
}

/* Before events are opened or closed: what was counted since the last tick happened with them, or without. Returns what
 * was used since. */
static struct usage tell_usage(int64_t tick_ns)
{
    struct usage now = usage_now(), before = usage_at_tick;
    totals->minor_faults = now.minor_faults - usage_at_start.minor_faults;
    totals->major_faults = now.major_faults - usage_at_start.major_faults;
    struct usage used = {.minor_faults = now.minor_faults - before.minor_faults,
                         .major_faults = now.major_faults - before.major_faults,
                         .switches = now.switches - before.switches,
                         .cpu_ns = now.cpu_ns - before.cpu_ns};
    int64_t faults = used.minor_faults + used.major_faults;
    usage_at_tick = now;
    totals->sampled_faults += is_on ? faults : 0;
    if (tick_ns > 0) {
        faults_per_ns = (double)faults / (double)tick_ns;
        switches_per_ns = (double)used.switches / (double)tick_ns;
    }
    return used;
}

/* What watching costs: the share of the processors' time that the process has, or, if that is more, of the time of the
 * thread that has most faults. */
static int64_t cost_of(const struct usage *used, const struct tfd_fresh_samples *fresh, uint64_t lost,
                       int64_t cpu_ns, int64_t tick_ns)
{
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

/* Faults under way are counted up to now, and from when events are open again. */
static void close_events(void)
{
    tfd_fault_pairs_end_window(now_ns());
    tfd_fault_events_close();
}

static bool open_events(int *error, enum tfd_fault_watch *found)
{
    *found = tfd_fault_events_open(error);
    tfd_fault_pairs_begin_window(tfd_fault_events_are_whole() ? now_ns() : 0);
    return *found == TFD_FAULTS_WATCHED;
}

static void switch_events(bool on)
{
    int error;
    enum tfd_fault_watch found;
    int64_t begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    if (on)
        is_on = open_events(&error, &found);
    else
        close_events(), is_on = false;
    last_cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    totals->cost_ns += last_cpu_ns - begin_ns;
    tfd_fault_budget_switched(last_cpu_ns - begin_ns);
}

/* Has no events for as long as they would cost more than their share. */
static void keep_budget(int64_t tick_ns, const struct usage *used, const struct tfd_fresh_samples *fresh,
                        uint64_t lost)
{
    int64_t now_cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID), cpu_ns = now_cpu_ns - last_cpu_ns;
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
        tfd_watch_lock();
        count = tfd_ranges_copy(copied);
        tfd_watch_unlock();
        tfd_ranges_sort(copied, count);
    }
    if (lost)
        tfd_fault_pairs_begin_window(0);
    tfd_fault_pairs_work(&spool, totals, copied, count, before_ns);
    int64_t now = now_ns(), tick_ns = now - last_tick_ns;
    struct usage used = tell_usage(tick_ns);
    keep_budget(tick_ns, &used, &fresh, lost);
    last_tick_ns = now;
}

/* In place of events. Returns how long it is until the next look. */
static int64_t look_at_threads(void)
{
    tfd_watch_lock();
    size_t mapped = tfd_ranges_live();
    tfd_watch_unlock();
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

/* Since the last tick something was unmapped, and nobody could say what. */
static void end_all_ranges(void)
{
    tfd_watch_lock();
    totals->ranges_lost += (uint32_t)tfd_ranges_live();
    tfd_ranges_end_all(last_tick_ns - SETTLED_NS);
    tfd_watch_unlock();
}

static void tick(bool is_last)
{
    int64_t begin_ns = now_ns();
    if (tfd_ranges_were_distrusted())
        end_all_ranges();
    if (has_events) {
        if (is_on)
            tfd_fault_events_follow_threads();
        work_up_faults(is_last ? INT64_MAX : begin_ns - SETTLED_NS);
    }
    tfd_watch_lock();
    tfd_ranges_forget(begin_ns - 2 * TICK_NS);
    tfd_watch_unlock();
    if (is_last || begin_ns >= next_look_ns)
        look_at_files(is_last);
    totals->settled |= is_last;
    if (!has_events)
        tell_usage(0);
    next_tick_ns = begin_ns + (is_on ? TICK_NS : SLOW_TICK_NS);
}

/* For a process that is about to end, and may not wait for long: what it has read is known from then on. */
static void serve_exit(void)
{
    if (!atomic_load(&settle_asked))
        return;
    tick(false);
    look_at_files(false);
    totals->settled = 1;
    atomic_store(&settle_asked, 0);
    futex_wake(&settle_asked);
}

/* ---- the thread ---- */

/* An emulated kernel that looked at no flags would close the program's descriptors: it takes one that there is not. */
static bool take_own_table(void)
{
    const unsigned unshare = 1u << 1 /* CLOSE_RANGE_UNSHARE, Linux 5.9 */, unknown = 1u << 30;
    errno = 0;
    bool heeds_flags = syscall(SYS_close_range, ~0u, ~0u, unknown) && errno == EINVAL;
    has_table = heeds_flags && !syscall(SYS_close_range, 0, ~0u, unshare);
    return has_table;
}

static void begin_watching(void)
{
    int error = 0;
    enum tfd_fault_watch found = TFD_FAULTS_NO_TABLE;
    int64_t begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    if (take_own_table())
        has_events = is_on = open_events(&error, &found);
    else
        error = errno;
    int64_t opened_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
    if (has_events)
        tfd_fault_cost_measure();
    has_looks = !has_events && found != TFD_FAULTS_NO_TABLE && tfd_blocked_threads_begin();
    blocked = (struct tfd_blocked){0};
    totals->watch = found;
    totals->error = error;
    last_cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    totals->cost_ns += last_cpu_ns;
    tfd_fault_budget_begin(last_cpu_ns, opened_ns);
    faults_per_ns = MOST_FAULTS_PER_NS;
    last_tick_ns = now_ns();
    next_look_ns = last_tick_ns + LOOK_NS;
    usage_at_start = usage_at_tick = usage_now();
}

static bool is_over(void)
{
    return atomic_load(&stop_asked) || atomic_load(&tfd_shared->generation) != generation ||
           atomic_load(&spool.header->stop_requested);
}

static int64_t until_next_wake_ns(void)
{
    if (!has_events)
        return look_at_threads();
    if (!is_on)
        return tfd_fault_budget_waits_ns(SLOW_TICK_NS);
    return tfd_fault_budget_lasts_ns(faults_per_ns * (double)tfd_fault_samples_cost_ns(SAMPLES_OF_FAULT) +
                                         switches_per_ns * (double)tfd_fault_switches_cost_ns(1),
                                     TICK_NS);
}

static void *watch(void *nothing)
{
    prctl(PR_SET_NAME, "tfd-mapping");
    begin_watching();
    atomic_store(&state, WATCHING);
    futex_wake(&state);
    while (has_table && !is_over()) {
        uint32_t heard = atomic_load(&bell);
        serve_request();
        if (!is_over())
            futex_wait(&bell, heard, until_next_wake_ns());
        serve_request();
        if (has_events || now_ns() >= next_tick_ns)
            tick(false);
        serve_exit();
    }
    if (has_table)
        tick(true);
    tfd_blocked_threads_end();
    if (is_on)
        close_events();
    tfd_fault_pairs_reset();
    atomic_store(&state, ENDED);
    futex_wake(&state);
    return nothing;
}

static int create_thread(void)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, NULL, watch, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

static void start_thread(void)
{
    spool = tfd_session.spool;
    generation = tfd_session.generation;
    watched_count = 0;
    has_events = is_on = has_table = false;
    atomic_store(&stop_asked, 0);
    atomic_store(&settle_asked, 0);
    atomic_store(&started_ns, now_ns());
    atomic_store(&waited_ns, 0);
    atomic_store(&request.posted, NOTHING);
    tfd_watch_lock();
    totals = tfd_mapped_files_of(&spool);
    tfd_ranges_keep_ended(true);
    tfd_watch_unlock();
    if (!totals)
        return;
    atomic_store(&state, STARTING);
    int error = create_thread();
    if (!error)
        return;
    totals->watch = TFD_FAULTS_NO_THREAD;
    totals->error = error;
    atomic_store(&state, ENDED);
}

/* Waits, but for no more than its share of the time. */
static bool wait_patiently(_Atomic uint32_t *word, uint32_t value)
{
    if (atomic_load(word) != value)
        return true;
    int64_t begin_ns = now_ns();
    int64_t allowed_ns = PATIENCE_NS + (begin_ns - atomic_load(&started_ns)) / WAIT_SHARE;
    if (atomic_load(&waited_ns) > allowed_ns)
        return false;
    bool done = wait_while(word, value, PATIENCE_NS);
    atomic_fetch_add(&waited_ns, now_ns() - begin_ns);
    return done;
}

void tfd_watcher_start(void)
{
    if (atomic_load(&state) == NOT_RUNNING) {
        pthread_mutex_lock(&start_lock);
        if (atomic_load(&state) == NOT_RUNNING)
            start_thread();
        pthread_mutex_unlock(&start_lock);
    }
    wait_patiently(&state, STARTING);
}

void tfd_watcher_begin_file(uint64_t file, int fd)
{
    pthread_mutex_lock(&request_lock);
    bool served = false;
    if (atomic_load(&state) == WATCHING && atomic_load(&request.posted) == NOTHING) {
        request.file = file;
        request.fd = fd;
        request.tid = (int32_t)syscall(SYS_gettid);
        atomic_store(&request.posted, POSTED);
        ring_bell();
        wait_patiently(&request.posted, POSTED);
        uint32_t posted = POSTED;
        served = !atomic_compare_exchange_strong(&request.posted, &posted, NOTHING) &&
                 wait_patiently(&request.posted, IN_SERVICE);
    }
    pthread_mutex_unlock(&request_lock);
    if (!served)
        __atomic_store_n(&tfd_mapped_file_at(&tfd_session.spool, file)->bytes_missed, 1, __ATOMIC_RELAXED);
}

bool tfd_watcher_stop(void)
{
    if (atomic_load(&state) == NOT_RUNNING)
        return true;
    atomic_store(&stop_asked, 1);
    ring_bell();
    bool ended = wait_while(&state, STARTING, STUCK_NS) && wait_while(&state, WATCHING, STUCK_NS);
    if (!ended) {
        pthread_detach(thread);
        return false; /* the state stays: no other one is ever started */
    }
    if (!totals || totals->watch != TFD_FAULTS_NO_THREAD)
        pthread_join(thread, NULL);
    atomic_store(&state, NOT_RUNNING);
    return true;
}

/* From exit handlers, _exit and exec, in a signal handler too: takes no lock. */
void tfd_watcher_settle(void)
{
    if (atomic_load(&state) != WATCHING)
        return;
    int saved_errno = errno;
    atomic_store(&settle_asked, 1);
    ring_bell();
    wait_while(&settle_asked, 1, PATIENCE_NS);
    errno = saved_errno;
}

void tfd_watcher_reset_in_child(void)
{
    tfd_fault_events_reset_in_child();
    tfd_blocked_threads_reset_in_child();
    tfd_fault_pairs_reset_in_child();
    pthread_mutex_init(&lock, NULL);
    pthread_mutex_init(&start_lock, NULL);
    pthread_mutex_init(&request_lock, NULL);
    atomic_store(&state, NOT_RUNNING);
    atomic_store(&request.posted, NOTHING);
}
