/* Sums of calls that do not become events: on pipes, sockets and others, and on files that are left out. */
#define _GNU_SOURCE
#include "recorder/other_traffic.h"

#include "recorder/session.h"
#include "recorder/slots.h"

static const uint8_t class_of_operation[] = {
#define X(suffix, name, module, io_class) TFD_CLASS_##io_class,
    TFD_OPERATIONS(X)
#undef X
};

void tfd_add_other(struct tfd_thread *thread, tfd_target target, enum tfd_operation operation, int64_t bytes)
{
    struct tfd_other_traffic *other = &thread->other[target & ~TFD_OTHER_BIT];
    bool moves = operation != TFD_OP_FSYNC && operation != TFD_OP_FDATASYNC && operation != TFD_OP_FFLUSH;
    if (class_of_operation[operation] == TFD_CLASS_READ) {
        other->reads++;
        other->bytes_read += bytes;
    } else if (class_of_operation[operation] == TFD_CLASS_WRITE && moves) {
        other->writes++;
        other->bytes_written += bytes;
    } else {
        other->other_calls++;
    }
}

void tfd_count_other(struct tfd_slot *slot, tfd_target target, enum tfd_operation operation, int64_t bytes)
{
    if (slot->thread) {
        tfd_add_other(slot->thread, target, operation, bytes);
        return;
    }
    pthread_mutex_lock(&tfd_fold_lock); /* the shared record of threads without one */
    tfd_add_other(tfd_thread_at(&tfd_session.spool, 0), target, operation, bytes);
    pthread_mutex_unlock(&tfd_fold_lock);
}

void tfd_add_traffic(struct tfd_other_traffic *sum, const struct tfd_other_traffic *more)
{
    __atomic_fetch_add(&sum->reads, more->reads, __ATOMIC_RELAXED);
    __atomic_fetch_add(&sum->bytes_read, more->bytes_read, __ATOMIC_RELAXED);
    __atomic_fetch_add(&sum->writes, more->writes, __ATOMIC_RELAXED);
    __atomic_fetch_add(&sum->bytes_written, more->bytes_written, __ATOMIC_RELAXED);
    __atomic_fetch_add(&sum->other_calls, more->other_calls, __ATOMIC_RELAXED);
}

/* A signal handler came while its thread was recording. That window is some ten
 * nanoseconds of a call, and calls in it are summed up as skipped. */
void tfd_count_nested(struct tfd_slot *slot, int64_t bytes_read, int64_t bytes_written)
{
    if (!tfd_is_recording_or_about_to())
        return;
    struct tfd_other_traffic *skipped = &slot->early;
    if (atomic_load(&slot->generation) == atomic_load(&tfd_shared->generation) && slot->thread)
        skipped = &slot->thread->other[TFD_OTHER_SKIPPED];
    const struct tfd_other_traffic call = {bytes_read > 0, bytes_read, bytes_written > 0, bytes_written,
                                           !bytes_read && !bytes_written};
    tfd_add_traffic(skipped, &call);
}
