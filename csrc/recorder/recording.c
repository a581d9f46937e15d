/* One process's recording from its spool to its closing snapshots, in the session's owner and in its children. */
#define _GNU_SOURCE
#include "recorder/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/attach_lock.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/kernel_io.h"
#include "base/process_identity.h"
#include "job/missed_opens.h"
#include "job/started_program.h"
#include "job/unseen_program.h"
#include "recorder/bypasses.h"
#include "recorder/fold_thread.h"
#include "recorder/mount_table.h"
#include "recorder/path_table.h"
#include "recorder/session.h"
#include "recorder/slots.h"
#include "recorder/thread_chunks.h"
#include "spool/memory_cap.h"
#include "spool/spool_file.h"
#include "spool/stop_request.h"
#include "tfdarshan.h"

static _Atomic int32_t child_starter; /* thread that makes the child's spool */
static struct tfd_clock_sample calibration;
static void (*tell_child_begun)(void), (*tell_ending)(void);

void tfd_recording_tell(void (*child_begun)(void), void (*ending)(void))
{
    tell_child_begun = child_begun;
    tell_ending = ending;
}

void tfd_recording_calibrate(void)
{
    calibration = tfd_clock_sample_now();
}

/* Store the arguments, each with its NUL; "..." is the last one where there is no room for all of them. */
static void read_command(char *out, size_t capacity)
{
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    ssize_t got = read(fd, out, capacity);
    close(fd);
    if (got < 0)
        out[0] = '\0';
    else
        tfd_kernel_io_exclude(got);
    if (got == (ssize_t)capacity) {
        char *end = out + capacity - sizeof "\0...";
        memset(end, 0, sizeof "\0...");
        memcpy(end + (end[-1] != '\0'), "...", 3);
    }
}

static void fill_header(struct tfd_spool_header *header, int32_t parent_pid)
{
    struct utsname system;
    header->trace_limit_bytes = tfd_session.trace_limit_bytes;
    header->parent_pid = parent_pid;
    if (!uname(&system))
        snprintf(header->host, sizeof header->host, "%.63s", system.nodename);
    read_command(header->command, sizeof header->command);
    header->process_start = tfd_process_start((int32_t)getpid());
    header->calibration = calibration;
}

int tfd_recording_make_spool(int32_t parent_pid)
{
    struct tfd_spool *spool = &tfd_session.spool;
    int status = tfd_spool_create(spool, tfd_session.directory, tfd_session.capacity_bytes);
    if (status)
        return status;
    fill_header(spool->header, parent_pid);
    tfd_memory_cap_find(spool, tfd_session.directory, tfd_session.owner_pid);
    if (!tfd_memory_cap_claim(atomic_load(&spool->header->reserved_bytes)))
        status = tfd_fail(ENOSPC, "the session's processes use twice its memory cap");
    if (!status)
        status = tfd_mounts_copy(spool);
    if (!status)
        status = tfd_paths_prepare_spool(spool);
    if (!status && !tfd_recorder_prepare_spool(spool))
        status = tfd_fail(ENOSPC, "no room for a first block of events in the spool %s", spool->path);
    if (!status)
        return 0;
    unlink(spool->path);
    tfd_memory_cap_give_back_all();
    tfd_spool_unmap(spool);
    return status;
}

/* In another pid namespace numbers do not tell who is whose child. */
static void tell_who_waits(struct tfd_spool_header *header)
{
    if (header->parent_pid &&
        (tfd_session.uncounted_child ||
         (tfd_own_pid_namespace() == tfd_session.pid_namespace && tfd_is_orphan_of(tfd_session.owner_pid))))
        atomic_store(&header->uncounted, 1);
}

static void begin(struct tfd_kernel_io kernel_start)
{
    struct tfd_spool_header *header = tfd_session.spool.header;
    tfd_session.pid = header->pid;
    tfd_session.generation++;
    tell_who_waits(header);
    header->kernel_start = kernel_start;
    header->start = tfd_clock_sample_now();
    tfd_spool_publish(&tfd_session.spool);
    tfd_session.active = true;
    atomic_store(&tfd_shared->generation, tfd_session.generation);
}

void tfd_recording_begin(void)
{
    begin(tfd_kernel_io_now());
}

/* The kernel counts a child of fork from 0 on. Its first call is recorded, and has moved its bytes by now. */
static struct tfd_kernel_io kernel_io_at_fork(void)
{
    struct tfd_kernel_io now = tfd_kernel_io_now();
    return (struct tfd_kernel_io){.valid = now.valid, .own_rchar = now.own_rchar, .own_wchar = now.own_wchar};
}

/* Other threads of the child wait: what they do meanwhile would be lost. */
static bool wait_for_child_start(int32_t own_tid)
{
    if (atomic_load(&child_starter) == own_tid) /* in a signal handler of that thread */
        return false;
    while (atomic_load(&tfd_shared->child_pending) == TFD_CHILD_STARTING)
        sched_yield();
    return atomic_load(&tfd_shared->generation);
}

void tfd_recording_drop_late_spool(void)
{
    unlink(tfd_session.spool.path);
    tfd_memory_cap_give_back_all();
    tfd_spool_unmap(&tfd_session.spool);
    rmdir(tfd_session.directory); /* the owner could not, where this spool came while it did */
}

/* Where the owner stops just now, either it finds the child's spool and asks it
 * to stop, or the child finds the owner stopped. */
static bool make_child_spool(void)
{
    int32_t parent_pid = tfd_session.pid;
    if (tfd_paths_reset() || tfd_recording_make_spool(parent_pid)) {
        tfd_note_unseen_self(tfd_session.directory, TFD_PROGRAM_NOT_JOINED);
        return false;
    }
    if (!tfd_has_stopped(tfd_session.directory, tfd_session.owner_pid))
        return true;
    tfd_recording_drop_late_spool();
    return false;
}

bool tfd_child_begin(void)
{
    uint32_t pending = TFD_CHILD_PENDING;
    int32_t own_tid = (int32_t)syscall(SYS_gettid);
    if (!atomic_compare_exchange_strong(&tfd_shared->child_pending, &pending, TFD_CHILD_STARTING))
        return wait_for_child_start(own_tid);
    atomic_store(&child_starter, own_tid);
    int cancel_state = tfd_tables_lock_take();
    tfd_positions_reset();
    bool begun = make_child_spool();
    tfd_tables_lock_give(cancel_state);
    if (begun)
        begin(kernel_io_at_fork());
    else
        tfd_session.active = false;
    atomic_store(&tfd_shared->child_pending, TFD_CHILD_NOT_PENDING);
    if (begun && tell_child_begun)
        tell_child_begun();
    return begun;
}

void tfd_recording_tell_missed_opens(struct tfd_spool_header *header)
{
    atomic_fetch_add(&header->missed_opens, tfd_missed_opens_take(&header->kernel_start));
}

/* What children move that are left, or that the kernel clears away, is in no figure of their parents. */
static void tell_children_left(bool any)
{
    if (tfd_session.active && tfd_session.follow_children && (any || tfd_ignores_children()))
        tfd_note_children_left(tfd_session.directory);
}

void tfd_recording_take_closing_snapshots(struct tfd_spool_header *header)
{
    tell_children_left(false);
    tfd_recording_tell_missed_opens(header);
    tell_who_waits(header);
    tfd_bypasses_look(header, true);
    header->kernel_stop = tfd_kernel_io_now();
    header->stop = tfd_clock_sample_now();
}

bool tfd_is_recording_here(void)
{
    if (atomic_load(&tfd_shared->child_pending))
        tfd_child_begin();
    return tfd_session.active && tfd_session.pid == (int32_t)getpid();
}

/* What is said to be stopped is read: nothing is folded there any more. */
static void tell_stopped(void)
{
    int cancel_state, saved_errno = errno;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state); /* what is told is read from files */
    tfd_fold_thread_hold();
    tfd_recording_take_closing_snapshots(tfd_session.spool.header);
    atomic_store(&tfd_session.spool.header->state, TFD_SPOOL_STOPPED);
    tfd_fold_thread_let_go();
    pthread_setcancelstate(cancel_state, NULL);
    errno = saved_errno;
}

void tfd_abandon(void)
{
    uint32_t generation = tfd_session.generation;
    if (!atomic_compare_exchange_strong(&tfd_shared->generation, &generation, 0))
        return; /* another thread did, or stops the session */
    tell_stopped();
    tfd_session.active = false;
}

/* Return false if nothing is recorded here. */
static bool tell_end(void)
{
    tell_children_left(tfd_has_children()); /* also of a child that made no call; one of vfork has none */
    if (!atomic_load(&tfd_shared->generation) || !tfd_session.active || !tfd_attach_trylock())
        return false;
    bool records = tfd_session.active && tfd_session.pid == getpid();
    if (records) {
        if (tell_ending)
            tell_ending();
        tell_stopped();
    }
    tfd_attach_unlock();
    return records;
}

/* The spools of ended processes stay until the session is written, and a job may start thousands one after the other. A
 * thread may be about to mark itself busy. Without the barrier of tfd_quiesce(), which takes 10 ms in a process with
 * threads, it is not waited for: what it still records, it records in room that is taken anew. */
static void give_back_room(void)
{
    if (tfd_session.pid == tfd_session.owner_pid || tfd_is_interrupted())
        return;
    atomic_store(&tfd_shared->generation, 0);
    if (!tfd_await_recorders())
        return;
    int cancel_state = tfd_tables_lock_take();
    tfd_spool_give_back_room(&tfd_session.spool);
    tfd_tables_lock_give(cancel_state);
}

void tfd_before_end(void)
{
    if (tell_end())
        give_back_room();
}

static uint64_t given_back; /* bytes, for a program that this process is to become */

/* Not with other threads, which record until then, and not in the memory of a parent, as a child of vfork is. */
void tfd_before_exec(void)
{
    int saved_errno = errno;
    if (atomic_load(&tfd_shared->generation) && tfd_session.pid == tfd_own_pid() &&
        tfd_session.pid != tfd_session.owner_pid && !tfd_is_interrupted() && tfd_has_one_thread()) {
        int cancel_state = tfd_tables_lock_take();
        given_back = tfd_spool_give_back_room(&tfd_session.spool);
        tfd_tables_lock_give(cancel_state);
    }
    errno = saved_errno;
}

void tfd_after_failed_exec(void)
{
    int saved_errno = errno;
    if (tfd_session.pid == tfd_own_pid() && given_back) {
        int cancel_state = tfd_tables_lock_take();
        if (!tfd_spool_take_back_room(&tfd_session.spool, given_back))
            atomic_store(&tfd_shared->generation, 0);
        given_back = 0;
        tfd_tables_lock_give(cancel_state);
    }
    errno = saved_errno;
}

static void after_all_destructors(int status, void *nothing)
{
    (void)status;
    (void)nothing;
    give_back_room();
}

/* The process may go on recording after this (destructors of other libraries, other threads); a reader takes the later of
 * this time and the last event. A handler of exit(3) that is registered now runs after all destructors, unlike one of
 * atexit(3), which is this library's. */
__attribute__((destructor)) static void at_normal_exit(void)
{
    if (tell_end())
        on_exit(after_all_destructors, NULL);
}
