#define _GNU_SOURCE
#include "recorder/fold_thread.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/clock.h"
#include "base/futex.h"
#include "counters/fold.h"
#include "recorder/session.h"
#include "recorder/slots.h"

#define EVENTS_AT_ONCE 4096u     /* while others wait for the lock: about a chunk's */
#define IDLE_NS 1000000000       /* without a full chunk, until it ends */
#define PATIENCE_NS 100000000    /* that a fork or an exit waits for it */
#define STUCK_NS 5000000000      /* within which a thread that got no processor ends */
#define STACK_BYTES (256u << 10) /* locked by a host that locks its memory */
#define SETS                                                                                                 \
    64 /* of 1,024 processors: the kernel refuses a set without room for each processor that there may be */

enum state { NO_THREAD, STARTING, RUNNING, ENDED, REFUSED };

static _Atomic uint32_t state, bell, asleep, end_asked;
static _Atomic uint32_t holds;      /* more than 0: it may not start */
static _Atomic uint32_t waiting;    /* threads that want to fold themselves */
static pthread_t thread;            /* where ENDED, still to be joined */
static uint32_t generation;         /* of the session that it was started for */
static _Atomic int32_t starter_pid; /* a child made without fork handlers has the state, but not the thread */
static _Atomic uint32_t users;      /* threads of this process that have asked for it and have not ended */
static _Atomic uintptr_t own_era = 1; /* marks these, counts forks: a child has its parent's marks */
static pthread_key_t era_key;         /* where such a thread has its mark */
static bool has_era_key;

/* Or soon: then its owner reads what there is. */
static bool session_is_over(uint32_t number)
{
    return atomic_load(&tfd_shared->generation) != number || tfd_stop_was_requested() ||
           atomic_load(&tfd_session.spool.header->state) == TFD_SPOOL_STOPPED;
}

static bool is_over(void)
{
    return atomic_load(&end_asked) || session_is_over(generation);
}

static void ring_bell(void)
{
    atomic_fetch_add(&bell, 1);
    if (atomic_load(&asleep))
        tfd_futex_wake(&bell);
}

/* It interrupts nobody, but has its share of the processors: with a higher nice value it could get none for seconds,
 * and forks and stops wait for it. The thread that happened to start it may be bound to one processor, or have a
 * real-time policy. */
static void stand_back(void)
{
    struct sched_param none = {0};
    cpu_set_t processors[SETS];
    prctl(PR_SET_NAME, "tfd-fold");
    sched_setscheduler(0, SCHED_BATCH, &none);
    if (!sched_getaffinity(tfd_session.pid, sizeof processors, processors))
        sched_setaffinity(0, sizeof processors, processors);
}

/* False where no chunk is full. The lock goes to threads that wait for it first: the mutex would let this one have it
 * again and again. */
static bool fold_some(void)
{
    while (atomic_load(&waiting) && !is_over())
        sched_yield();
    pthread_mutex_lock(&tfd_fold_lock);
    bool folded = !is_over() && tfd_drain_full(&tfd_session.spool, EVENTS_AT_ONCE) > 0;
    pthread_mutex_unlock(&tfd_fold_lock);
    return folded;
}

/* False where nothing was heard for long. */
static bool wait_for_bell(uint32_t heard)
{
    atomic_store(&asleep, 1);
    bool rang = is_over() || tfd_futex_wait_while(&bell, heard, IDLE_NS);
    atomic_store(&asleep, 0);
    return rang;
}

static void set_state(enum state next)
{
    atomic_store(&state, next);
    tfd_futex_wake(&state);
}

/* Before its creator has said that it runs, what others would join is not known yet. */
static void wait_for_creator(void)
{
    while (!tfd_futex_wait_while(&state, STARTING, STUCK_NS))
        ;
}

/* The spool says what all threads of ours took that folded in it, one after the other. */
static void tell_cost(uint64_t before_ns)
{
    atomic_store(&tfd_session.spool.header->fold_thread_ns,
                 before_ns + (uint64_t)tfd_clock_ns(CLOCK_THREAD_CPUTIME_ID));
}

static void *fold(void *nothing)
{
    uint64_t cost_before_ns = atomic_load(&tfd_session.spool.header->fold_thread_ns);
    bool goes_on = true;
    wait_for_creator();
    stand_back();
    while (goes_on && !is_over()) {
        uint32_t heard = atomic_load(&bell);
        if (fold_some())
            continue;
        tell_cost(cost_before_ns);
        goes_on = wait_for_bell(heard);
    }
    tell_cost(cost_before_ns);
    set_state(ENDED);
    return nothing;
}

static int create(void)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    int error = pthread_attr_init(&attributes);
    if (error)
        return error;
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&thread, &attributes, fold, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return error;
}

/* A handler may have interrupted the allocator, which is called to make a thread and to clear it away. Its signal is
 * blocked meanwhile, or it has a stack of its own. */
static bool may_be_in_handler(void)
{
    sigset_t blocked;
    stack_t stack;
    return pthread_sigmask(SIG_BLOCK, NULL, &blocked) || !sigisemptyset(&blocked) ||
           sigaltstack(NULL, &stack) || (stack.ss_flags & SS_ONSTACK);
}

/* A fork is no cancellation point, and pthread_join is one. */
static void join_ended(void)
{
    uint32_t ended = ENDED;
    int cancel_state;
    if (!atomic_compare_exchange_strong(&state, &ended, STARTING))
        return;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    pthread_join(thread, NULL);
    pthread_setcancelstate(cancel_state, NULL);
    set_state(NO_THREAD);
}

/* To glibc the fold thread is one of the program's: if it were the last, it would run the program's exit handlers, on
 * its small stack and deaf to signals. So the last thread that has asked for it takes it along. */
static void leave(void *mark)
{
    if ((uintptr_t)mark != atomic_load(&own_era) || tfd_memory_is_lent() || atomic_fetch_sub(&users, 1) > 1)
        return;
    tfd_fold_thread_hold();
    join_ended();
    tfd_fold_thread_let_go();
}

static void note_user(void)
{
    void *mark = (void *)atomic_load(&own_era);
    if (has_era_key && pthread_getspecific(era_key) != mark && !pthread_setspecific(era_key, mark))
        atomic_fetch_add(&users, 1);
}

void tfd_fold_thread_initialize(void)
{
    has_era_key = !pthread_key_create(&era_key, leave);
}

/* Whoever holds the thread back looks at the state after that, and this looks whether one does after it has said
 * that it starts. What was refused once is not asked for again in this session. */
static void start(enum state before)
{
    if (before == ENDED)
        pthread_join(thread, NULL);
    if (atomic_load(&holds)) {
        set_state(NO_THREAD);
        return;
    }
    generation = tfd_session.generation;
    atomic_store(&starter_pid, tfd_session.pid);
    atomic_store(&end_asked, 0);
    set_state(create() ? REFUSED : RUNNING);
}

bool tfd_fold_thread_runs(void)
{
    uint32_t before = atomic_load(&state);
    if (before == STARTING || before == REFUSED || atomic_load(&holds) ||
        session_is_over(tfd_session.generation) || may_be_in_handler())
        return before == RUNNING;
    note_user();
    if (before == RUNNING)
        return true;
    if (!atomic_compare_exchange_strong(&state, &before, STARTING))
        return false;
    int cancel_state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    start(before);
    pthread_setcancelstate(cancel_state, NULL);
    return atomic_load(&state) == RUNNING;
}

void tfd_fold_thread_tell(void)
{
    if (atomic_load_explicit(&state, memory_order_relaxed) == RUNNING)
        ring_bell();
}

void tfd_fold_lock_first(void)
{
    atomic_fetch_add(&waiting, 1);
    pthread_mutex_lock(&tfd_fold_lock);
    atomic_fetch_sub(&waiting, 1);
}

uint64_t tfd_fold_begin_helping(const struct tfd_spool *spool)
{
    tfd_fold_lock_first();
    return tfd_fold_count(spool);
}

void tfd_fold_end_helping(const struct tfd_spool *spool, uint64_t folded_before)
{
    atomic_fetch_add(&spool->header->folded_by_callers, tfd_fold_count(spool) - folded_before);
    pthread_mutex_unlock(&tfd_fold_lock);
}

/* Starting forgets what was asked before. */
static bool end_within(int64_t patience_ns)
{
    if (!tfd_futex_wait_while(&state, STARTING, patience_ns))
        return false;
    atomic_store(&end_asked, 1);
    ring_bell();
    return tfd_futex_wait_while(&state, RUNNING, patience_ns);
}

void tfd_fold_thread_hold(void)
{
    int saved_errno = errno;
    atomic_fetch_add(&holds, 1);
    end_within(PATIENCE_NS);
    errno = saved_errno;
}

void tfd_fold_thread_let_go(void)
{
    atomic_fetch_sub(&holds, 1);
}

void tfd_fold_thread_join(void)
{
    if (!may_be_in_handler())
        join_ended();
}

bool tfd_fold_thread_stop(void)
{
    if (atomic_load(&starter_pid) != tfd_own_pid())
        atomic_store(&state, NO_THREAD);
    if (!end_within(STUCK_NS))
        return false;
    join_ended();
    atomic_store(&state, NO_THREAD); /* the next session asks again for what this one was refused */
    return true;
}

void tfd_fold_thread_reset_in_child(void)
{
    atomic_store(&state, NO_THREAD);
    atomic_store(&asleep, 0);
    atomic_store(&holds, 0);
    atomic_store(&waiting, 0);
    atomic_store(&users, 0);
    atomic_fetch_add(&own_era, 1);
}
