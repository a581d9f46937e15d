#define _GNU_SOURCE
#include "offline/lmdb/team.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

enum { MOST_THREADS = 64 };

struct team {
    const struct tfd_lmdb_work *work;
    atomic_size_t next;
    atomic_bool failed;
    pthread_mutex_t lock; /* guards `error` */
    struct tfd_lmdb_error *error;
};

static void report(struct team *team, const struct tfd_lmdb_error *error)
{
    pthread_mutex_lock(&team->lock);
    if (!atomic_exchange(&team->failed, true))
        *team->error = *error;
    pthread_mutex_unlock(&team->lock);
}

static void make_calls(struct team *team, const struct tfd_lmdb_buffers *buffers)
{
    const struct tfd_lmdb_work *work = team->work;
    struct tfd_lmdb_error error;
    while (!atomic_load(&team->failed)) {
        size_t i = atomic_fetch_add(&team->next, 1);
        if (i >= work->count)
            return;
        if (tfd_lmdb_read_call(work, &work->calls[i], buffers, false, &error) < 0)
            report(team, &error);
    }
}

static void *thread_main(void *argument)
{
    struct team *team = argument;
    struct tfd_lmdb_buffers buffers;
    struct tfd_lmdb_error error;
    if (tfd_lmdb_make_buffers(team->work, &buffers, &error)) {
        report(team, &error);
        return NULL;
    }
    make_calls(team, &buffers);
    tfd_lmdb_free_buffers(&buffers);
    return NULL;
}

/* Start up to `count` threads with signals blocked, so that they get none of the host's; return how many started. */
static int start_threads(struct team *team, pthread_t *threads, int count)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int started = 0;
    while (started < count && !pthread_create(&threads[started], NULL, thread_main, team))
        started++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

/* Return how many calls, from the first on, the page cache has served; -1 if one failed. */
static int64_t read_cached(const struct tfd_lmdb_work *work, const struct tfd_lmdb_buffers *buffers,
                           struct tfd_lmdb_error *error)
{
    if (work->direct_fd >= 0)
        return 0;
    for (size_t i = 0; i < work->count; i++) {
        int result = tfd_lmdb_read_call(work, &work->calls[i], buffers, true, error);
        if (result != TFD_LMDB_DONE)
            return result < 0 ? -1 : (int64_t)i;
    }
    return (int64_t)work->count;
}

static int read_rest(struct team *team, const struct tfd_lmdb_buffers *buffers, int threads)
{
    size_t left = team->work->count - atomic_load(&team->next);
    pthread_t started[MOST_THREADS];
    int most = threads < MOST_THREADS ? threads : MOST_THREADS;
    int wanted = left < (size_t)most ? (int)left : most;
    int count = start_threads(team, started, wanted - 1);
    make_calls(team, buffers);
    for (int i = 0; i < count; i++)
        pthread_join(started[i], NULL);
    return atomic_load(&team->failed) ? -1 : 0;
}

int tfd_lmdb_team_run(const struct tfd_lmdb_work *work, int threads, struct tfd_lmdb_error *error)
{
    struct team team = {.work = work, .lock = PTHREAD_MUTEX_INITIALIZER, .error = error};
    struct tfd_lmdb_buffers buffers;
    if (tfd_lmdb_make_buffers(work, &buffers, error))
        return -1;
    int64_t cached = read_cached(work, &buffers, error);
    int result = cached < 0 ? -1 : 0;
    if (cached >= 0 && (size_t)cached < work->count) {
        atomic_store(&team.next, (size_t)cached);
        result = read_rest(&team, &buffers, threads);
    }
    tfd_lmdb_free_buffers(&buffers);
    return result;
}
