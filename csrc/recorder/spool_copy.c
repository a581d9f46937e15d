/* Copies the spool of this process while it records. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/attach_lock.h"
#include "base/error.h"
#include "base/kernel_io.h"
#include "recorder/bypasses.h"
#include "recorder/fold_thread.h"
#include "recorder/session.h"
#include "recorder/slots.h"

#define BLOCK_BYTES (64u << 10)

static char block[BLOCK_BYTES]; /* caller holds the attach lock */

static bool is_own_spool(int fd)
{
    struct stat given, own;
    return tfd_session.active && tfd_session.pid == tfd_own_pid() && !fstat(fd, &given) &&
           !stat(tfd_session.spool.path, &own) && given.st_dev == own.st_dev && given.st_ino == own.st_ino;
}

/* In order of offsets: a chunk's events come after the number of them. */
static int copy_used(const struct tfd_spool *spool, int source, int target)
{
    uint64_t used = atomic_load(&spool->header->used_bytes);
    for (uint64_t done = 0; done < used;) {
        size_t wanted = used - done < BLOCK_BYTES ? used - done : BLOCK_BYTES;
        ssize_t got = pread(source, block, wanted, (off_t)done);
        ssize_t put = got > 0 ? pwrite(target, block, (size_t)got, (off_t)done) : got;
        if (put <= 0)
            return tfd_fail(put ? errno : EIO, "the spool cannot be copied: %s", strerror(put ? errno : EIO));
        tfd_kernel_io_exclude(got);
        tfd_kernel_io_exclude_written(put);
        done += (uint64_t)put;
    }
    /* what was allocated since then is empty there */
    return ftruncate(target, (off_t)spool->capacity_bytes)
               ? tfd_fail(errno, "the spool cannot be copied: %s", strerror(errno))
               : 0;
}

/* Changes whenever a thread uses a chunk again. */
static uint64_t reused(const struct tfd_spool *spool)
{
    uint64_t events = 0;
    for (uint32_t i = 0; i < atomic_load(&spool->header->thread_count); i++)
        events += __atomic_load_n(&tfd_thread_at(spool, i)->events_dropped, __ATOMIC_ACQUIRE);
    return events;
}

/* Without folding no chunk is released, so the threads soon have none left to use again. */
static int copy_still(const struct tfd_spool *spool, int source, int target)
{
    uint64_t before;
    int status;
    do {
        before = reused(spool);
        status = copy_used(spool, source, target);
    } while (!status && reused(spool) != before);
    return status;
}

/* This thread is not marked busy: a handler of its own must not wait for it. */
int tfd_session_copy(int source, int target)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    tfd_attach_lock();
    int status = -ESRCH;
    if (is_own_spool(source)) {
        tfd_bypasses_look(tfd_session.spool.header, false);
        tfd_fold_lock_first();
        int cancel_state = tfd_tables_lock_take();
        status = copy_still(&tfd_session.spool, source, target);
        tfd_tables_lock_give(cancel_state);
        pthread_mutex_unlock(&tfd_fold_lock);
    }
    tfd_attach_unlock();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return status;
}
