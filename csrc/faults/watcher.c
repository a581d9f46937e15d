#define _GNU_SOURCE
#include "faults/watcher.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/futex.h"
#include "faults/cached_files.h"
#include "faults/fault_watch.h"
#include "mapping/mapped_files.h"
#include "mapping/mapping_lock.h"
#include "mapping/range_table.h"
#include "recorder/session.h"

#define LONGEST_WAIT_NS 100000000 /* a thread waits this long for the watcher, at most */
#define WAIT_SHARE 100            /* all these waits together take 1/WAIT_SHARE of the time, at most */
#define STUCK_NS 5000000000       /* a watcher that has not ended by then is stuck */

enum state { NOT_RUNNING, STARTING, WATCHING, ENDED };
enum posted { NOTHING, POSTED, IN_SERVICE };

static pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER, request_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t thread;
static _Atomic uint32_t state, bell, stop_asked, settle_asked;
static _Atomic int64_t waited_ns, started_ns; /* waits of threads that map files; start of the watcher */

/* The request of a thread that maps a file. */
static struct {
    _Atomic uint32_t posted; /* enum posted */
    uint64_t file;
    int fd;
    int32_t tid; /* the thread that has the descriptor */
} request;

/* Of the watching thread alone. */
static struct tfd_spool spool;
static uint32_t generation;
static struct tfd_mapped_files *totals;
static bool has_table;
static int64_t next_tick_ns;

static int64_t now_ns(void)
{
    return tfd_clock_ns(CLOCK_MONOTONIC);
}

static void ring_bell(void)
{
    atomic_fetch_add(&bell, 1);
    tfd_futex_wake(&bell);
}

static void serve_request(void)
{
    uint32_t posted = POSTED;
    if (!atomic_compare_exchange_strong(&request.posted, &posted, IN_SERVICE))
        return;
    tfd_cached_files_begin(request.file, request.tid, request.fd);
    atomic_store(&request.posted, NOTHING);
    tfd_futex_wake(&request.posted);
}

static void look_at_files(bool is_last)
{
    tfd_cached_files_look(totals, tfd_fault_watch_blocked(), is_last);
}

static void tick(bool is_last)
{
    int64_t begin_ns = now_ns();
    tfd_fault_watch_tick(is_last);
    if (is_last || tfd_cached_files_are_due(begin_ns))
        look_at_files(is_last);
    totals->settled |= is_last;
    next_tick_ns = begin_ns + tfd_fault_watch_tick_ns();
}

/* Settle the figures for a process that is about to end and cannot wait for long. */
static void serve_exit(void)
{
    if (!atomic_load(&settle_asked))
        return;
    tick(false);
    look_at_files(false);
    totals->settled = 1;
    atomic_store(&settle_asked, 0);
    tfd_futex_wake(&settle_asked);
}

/* An emulated kernel that ignores flags would close the program's descriptors. Such a kernel accepts an unknown flag
 * too, which this tries first. */
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
    int error = take_own_table() ? 0 : errno;
    tfd_fault_watch_begin(&spool, totals, has_table, error);
    tfd_cached_files_reset(&spool);
}

static bool is_over(void)
{
    return atomic_load(&stop_asked) || atomic_load(&tfd_shared->generation) != generation ||
           atomic_load(&spool.header->stop_requested);
}

static void *watch(void *nothing)
{
    prctl(PR_SET_NAME, "tfd-mapping");
    begin_watching();
    atomic_store(&state, WATCHING);
    tfd_futex_wake(&state);
    while (has_table && !is_over()) {
        uint32_t heard = atomic_load(&bell);
        serve_request();
        if (!is_over())
            tfd_futex_wait(&bell, heard, tfd_fault_watch_wait_ns());
        serve_request();
        if (tfd_fault_watch_has_events() || now_ns() >= next_tick_ns)
            tick(false);
        serve_exit();
    }
    if (has_table)
        tick(true);
    tfd_fault_watch_end();
    atomic_store(&state, ENDED);
    tfd_futex_wake(&state);
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
    has_table = false;
    atomic_store(&stop_asked, 0);
    atomic_store(&settle_asked, 0);
    atomic_store(&started_ns, now_ns());
    atomic_store(&waited_ns, 0);
    atomic_store(&request.posted, NOTHING);
    tfd_mapping_lock();
    totals = tfd_mapped_files_of(&spool);
    tfd_ranges_keep_ended(true);
    tfd_mapping_unlock();
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

/* Wait, but no longer than all waits' share of the time; return false after that. */
static bool wait_within_share(_Atomic uint32_t *word, uint32_t value)
{
    if (atomic_load(word) != value)
        return true;
    int64_t begin_ns = now_ns();
    int64_t allowed_ns = LONGEST_WAIT_NS + (begin_ns - atomic_load(&started_ns)) / WAIT_SHARE;
    if (atomic_load(&waited_ns) > allowed_ns)
        return false;
    bool done = tfd_futex_wait_while(word, value, LONGEST_WAIT_NS);
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
    wait_within_share(&state, STARTING);
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
        wait_within_share(&request.posted, POSTED);
        uint32_t posted = POSTED;
        served = !atomic_compare_exchange_strong(&request.posted, &posted, NOTHING) &&
                 wait_within_share(&request.posted, IN_SERVICE);
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
    bool ended =
        tfd_futex_wait_while(&state, STARTING, STUCK_NS) && tfd_futex_wait_while(&state, WATCHING, STUCK_NS);
    if (!ended) {
        pthread_detach(thread);
        return false; /* the state stays, so that no other watcher is started */
    }
    if (!totals || totals->watch != TFD_FAULTS_NO_THREAD)
        pthread_join(thread, NULL);
    atomic_store(&state, NOT_RUNNING);
    return true;
}

/* Exit handlers, _exit and exec call this, also in a signal handler, so it takes no lock. */
void tfd_watcher_settle(void)
{
    if (atomic_load(&state) != WATCHING)
        return;
    int saved_errno = errno;
    atomic_store(&settle_asked, 1);
    ring_bell();
    tfd_futex_wait_while(&settle_asked, 1, LONGEST_WAIT_NS);
    errno = saved_errno;
}

void tfd_watcher_reset_in_child(void)
{
    tfd_fault_watch_reset_in_child();
    pthread_mutex_init(&start_lock, NULL);
    pthread_mutex_init(&request_lock, NULL);
    atomic_store(&state, NOT_RUNNING);
    atomic_store(&request.posted, NOTHING);
}
