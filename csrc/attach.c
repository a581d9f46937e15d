#define _GNU_SOURCE
#include "attach.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/attach_lock.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/memory_left.h"
#include "base/path_room.h"
#include "base/process_identity.h"
#include "counters/fold.h"
#include "darshan/engine.h"
#include "darshan/library.h"
#include "emulation/emulation.h"
#include "emulation/storage_queue.h"
#include "faults/mapped_reads.h"
#include "hooks/definitions.h"
#include "hooks/got_patch.h"
#include "hooks/hook_table.h"
#include "hooks/late_attach.h"
#include "job/job_page.h"
#include "job/join_offer.h"
#include "job/missed_opens.h"
#include "job/own_environment.h"
#include "job/rendezvous.h"
#include "job/unseen_program.h"
#include "recorder/fold_thread.h"
#include "recorder/mount_table.h"
#include "recorder/own_cost.h"
#include "recorder/path_filter.h"
#include "recorder/path_table.h"
#include "recorder/recording.h"
#include "recorder/session.h"
#include "recorder/slots.h"
#include "recorder/stream_marks.h"
#include "recorder/thread_chunks.h"
#include "spool/spool_file.h"
#include "spool/stop_request.h"
#include "tfdarshan.h"
#include "wrappers/redirect.h"
#include "wrappers/wrap_loader.h"
#include "wrappers/wrapper_table.h"

static void (*reset_above)(void); /* resets in a child what is built on sessions */
static bool is_initialized;
static bool late_attach_is_known, children_can_wait;

void tfd_attach_set_reset_in_child(void (*reset)(void))
{
    reset_above = reset;
}

/* Only this thread exists in the child. Other threads may have held locks, so
 * the locks are made new, and the parent's spool is not mapped. Recording
 * begins with the child's first call, so a child that only execs pays nothing.
 * If a signal handler forked while its thread was recording, the thread goes
 * on with that when the handler returns: it then writes to private memory, and
 * the child does not record. */
static void after_fork_in_child(void)
{
    int saved_errno = errno;
    tfd_attach_lock_reset_in_child();
    tfd_late_attach_release_in_child(false);
    tfd_missed_opens_forget();
    tfd_kernel_io_forget();
    bool interrupted = tfd_is_interrupted();
    pthread_mutex_init(&tfd_tables_lock, NULL);
    pthread_mutex_init(&tfd_fold_lock, NULL);
    tfd_spool_reset_locks_in_child();
    tfd_path_room_reset_in_child();
    tfd_slots_reset_in_child();
    tfd_chunks_reset_in_child();
    tfd_fold_thread_reset_in_child();
    tfd_mapped_reads_reset_in_child();
    tfd_darshan_reset_in_child();
    if (reset_above)
        reset_above();
    if (interrupted)
        tfd_spool_replace_in_child(&tfd_session.spool);
    tfd_session.active = tfd_session.active && tfd_session.follow_children && !interrupted;
    tfd_got_distrust_list_in_child();
    if (children_can_wait && !interrupted)
        tfd_late_attach_arm();
    tfd_session.uncounted_child = tfd_ignores_children();
    if (tfd_session.active)
        atomic_store(&tfd_shared->child_pending, TFD_CHILD_PENDING);
    errno = saved_errno;
}

static void prepare_children(void);

/* A thread that a signal handler interrupted while it recorded may have the lock that the fold thread waits for. */
static bool holds_fold_thread(void)
{
    return tfd_attach_is_locked_for_fork() && !tfd_is_interrupted();
}

/* This prepares what a child needs to wait for sessions, since a child may not read the loader's list. */
static void before_fork(void)
{
    int saved_errno = errno;
    if (tfd_attach_lock_before_fork() && late_attach_is_known && !children_can_wait)
        prepare_children();
    if (holds_fold_thread()) {
        tfd_fold_thread_hold();
        tfd_fold_thread_join();
    }
    tfd_late_attach_hold();
    errno = saved_errno;
}

static void after_fork_in_parent(void)
{
    tfd_late_attach_release();
    if (holds_fold_thread())
        tfd_fold_thread_let_go();
    tfd_attach_lock_after_fork();
}

static int handle_forks(void)
{
    if (tfd_fork_is_handled)
        return 0;
    if (pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child))
        return tfd_fail(ENOMEM, "no memory for the fork handlers");
    tfd_fork_is_handled = true;
    return 0;
}

static int initialize_once(void)
{
    if (is_initialized)
        return 0;
    tfd_clock_initialize();
    tfd_recording_calibrate();
    if (!tfd_slots_initialize())
        return tfd_fail(ENOMEM, "no address space for the recorder's thread slots");
    int status = tfd_descriptors_initialize();
    if (status)
        return status;
    tfd_fold_thread_initialize();
    tfd_definitions_find(tfd_wrapper_table);
    tfd_late_attach_use_wrappers(
        &(struct tfd_late_attach_wrappers){tfd_wrapper_table, tfd_is_definition, tfd_may_patch});
    status = handle_forks();
    is_initialized = !status;
    return status;
}

int tfd_attach_initialize(void)
{
    tfd_attach_lock();
    int status = initialize_once();
    tfd_attach_unlock();
    return status;
}

/* libdarshan's fork handler must come after ours: see tfd_darshan_library_reset_in_child. */
int tfd_darshan_load(const struct tfd_darshan_options *options)
{
    int status = tfd_attach_initialize();
    return status ? status : tfd_darshan_library_load(options);
}

int tfd_darshan_adopt(void)
{
    int found = tfd_darshan_library_adopt();
    int status = found > 0 ? tfd_attach_initialize() : 0;
    return status ? status : found;
}

/* `owner_pid` is another process if this one joins its session. */
static int prepare_session(const struct tfd_options *options, int32_t owner_pid)
{
    size_t length = strlen(options->spool_directory);
    if (length >= sizeof tfd_session.directory - 32)
        return tfd_fail(ENAMETOOLONG, "the spool directory's name is too long: %s", options->spool_directory);
    memcpy(tfd_session.directory, options->spool_directory, length + 1);
    tfd_session.capacity_bytes = options->capacity_bytes;
    tfd_session.trace_limit_bytes = options->trace_limit_bytes;
    tfd_session.follow_children = options->follow_children;
    tfd_session.owner_pid = owner_pid;
    tfd_session.user = geteuid();
    tfd_session.pid_namespace = tfd_own_pid_namespace();
    tfd_session.uncounted_child = owner_pid != getpid() && tfd_ignores_children();
    int status = initialize_once();
    if (!status && !tfd_fold_thread_stop()) /* of a session that was abandoned */
        status = tfd_fail(EAGAIN, "a thread of the last session has not ended");
    if (!status)
        status = tfd_path_filter_set(options);
    if (!status) {
        tfd_mounts_read();
        status = tfd_paths_reset();
    }
    tfd_positions_reset();
    return status ? status : tfd_recording_make_spool(owner_pid == getpid() ? 0 : (int32_t)getppid());
}

/* Programs that this process starts find the session by a variable in their environment. Without it they are not
 * recorded, as with follow_children=False. A session that only TensorFlow's profiler has begun offers nothing: its
 * folder has no core for them to load. */
static void offer_to_programs(const struct tfd_options *options)
{
    char core[TFD_SPOOL_PATH_MAX];
    if (!options->follow_children || !tfd_join_offer_core(options->spool_directory, core, sizeof core) ||
        tfd_join_offer_write(options))
        return;
    tfd_environment_offer(core, options->spool_directory, options->program_library);
    if (tfd_job_page_open())
        tfd_rendezvous_announce(options->spool_directory);
}

/* The recorder looks too, but for a moment only: a large process has thousands of mappings. */
static void note_aio(struct tfd_spool_header *header)
{
    if (tfd_got_saw_aio())
        atomic_fetch_or(&header->bypasses, TFD_BYPASS_AIO);
}

static int begin_and_patch(const struct tfd_options *options, struct tfd_attach_report *report)
{
    int status;
    tfd_recording_begin();
    tfd_late_libraries_reset();
    status = options->darshan ? tfd_darshan_begin(tfd_session.generation) : 0;
    tfd_emulation_install();
    if (!status)
        status = tfd_got_patch(report);
    if (!status) {
        note_aio(tfd_session.spool.header);
        if (options->mapped)
            tfd_mapped_reads_begin(options->mapped == TFD_MAPPED_LARGE);
        return 0;
    }
    tfd_got_undo(report);
    tfd_emulation_remove();
    tfd_darshan_end(0);
    atomic_store(&tfd_shared->generation, 0);
    tfd_quiesce();
    tfd_fold_thread_stop();
    tfd_darshan_detach();
    unlink(tfd_session.spool.path);
    tfd_spool_unmap(&tfd_session.spool);
    tfd_session.active = false;
    return status;
}

static int measure_own_cost(struct tfd_attach_report *report)
{
    struct tfd_own_cost cost;
    int status = tfd_own_cost_measure(&cost);
    report->transfer_cost_ns = cost.transfer_ns;
    report->open_cost_ns = cost.open_ns;
    if (status)
        tfd_recording_drop_late_spool();
    return status;
}

static int start(const struct tfd_options *options, struct tfd_attach_report *report)
{
    if (tfd_session.active)
        return tfd_fail(EBUSY, "a session is already recording in this process");
    int status = options->follow_children ? tfd_emulation_offer(options->spool_directory) : 0;
    if (!status)
        status = prepare_session(options, (int32_t)getpid());
    if (!status)
        status = measure_own_cost(report);
    if (!status)
        status = begin_and_patch(options, report);
    if (!status)
        offer_to_programs(options);
    return status;
}

/* If the session's owner stops at the same time, either the owner finds this process's spool, or this process finds the
 * owner stopped. The same holds for a child of fork. */
static int join(const struct tfd_options *options, int32_t owner_pid)
{
    struct tfd_attach_report report = {0};
    char core[TFD_SPOOL_PATH_MAX];
    int status = tfd_emulation_join(options->spool_directory);
    if (!status)
        status = prepare_session(options, owner_pid);
    if (!status)
        tfd_session.spool.header->joined = TFD_JOINED_BY_INTERPRETER;
    if (!status && tfd_has_stopped(options->spool_directory, owner_pid)) {
        tfd_recording_drop_late_spool();
        status = tfd_fail(ESRCH, "the session in %s has ended", options->spool_directory);
    }
    if (!status)
        status = begin_and_patch(options, &report);
    if (status)
        return status;
    tfd_redirect_join(options->spool_directory);
    if (tfd_join_offer_core(options->spool_directory, core, sizeof core))
        tfd_environment_offer(core, options->spool_directory, options->program_library);
    return 0;
}

static int join_offered(const char *directory, const struct tfd_join_offer *offer)
{
    size_t count = (size_t)offer->include_count + offer->exclude_count;
    const char **patterns = calloc(count + 1, sizeof *patterns);
    if (!patterns)
        return tfd_fail(ENOMEM, "no memory for the path patterns");
    const char *library = tfd_join_offer_patterns(offer, patterns);
    struct tfd_options options = {
        .spool_directory = directory,
        .capacity_bytes = offer->capacity_bytes,
        .trace_limit_bytes = offer->trace_limit_bytes,
        .include = patterns,
        .include_count = offer->include_count,
        .exclude = patterns + offer->include_count,
        .exclude_count = offer->exclude_count,
        .exclude_followed = offer->exclude_followed,
        .follow_children = 1,
        .program_library = library,
        .mapped = (int)offer->mapped,
    };
    tfd_fit_address_space(&options.capacity_bytes, &options.trace_limit_bytes);
    int status = join(&options, offer->owner_pid);
    free(patterns);
    return status;
}

static int join_in(const char *directory)
{
    size_t mapped_bytes = 0;
    const struct tfd_join_offer *offer = tfd_join_offer_map(directory, &mapped_bytes);
    if (!offer)
        return tfd_fail(errno == ESRCH ? ESRCH : ENOENT, "no session can be joined in %s", directory);
    int status = join_offered(directory, offer);
    munmap((void *)offer, mapped_bytes);
    return status;
}

int tfd_session_join(const char *directory)
{
    tfd_attach_lock();
    int status = tfd_session.active ? 0 : join_in(directory);
    tfd_attach_unlock();
    return status;
}

/* Unmap the spool of a session that is over; return false if a thread may still write to it. */
static bool leave_last_spool(void)
{
    if (!tfd_session.spool.header || tfd_session.pid != tfd_own_pid()) /* a parent's is not mapped here */
        return true;
    bool quiet = tfd_quiesce() && tfd_fold_thread_stop() && tfd_mapped_reads_end();
    if (quiet)
        tfd_spool_unmap(&tfd_session.spool);
    return quiet;
}

/* The session reports opens of threads that stopped waiting for it. Opens that were missed in an earlier session do not
 * count. */
static void tell_missed_opens(void)
{
    if (atomic_load(&tfd_shared->generation))
        tfd_recording_tell_missed_opens(tfd_session.spool.header);
    else
        tfd_missed_opens_forget();
}

/* Return false if another thread is leaving the last session: then nothing is known of the next one yet. A child that
 * found no room to record in its parent's session has noted that, and does not try again. */
static bool leave_and_join(void)
{
    char directory[TFD_SPOOL_PATH_MAX];
    if (tfd_is_recording_here() && tfd_stop_was_requested())
        tfd_abandon();
    if (tfd_session.active)
        return atomic_load(&tfd_shared->generation);
    if (!tfd_rendezvous_find(directory, sizeof directory) || !strcmp(directory, tfd_session.directory) ||
        !leave_last_spool())
        return true;
    int status = join_in(directory);
    if (status && status != -ESRCH)
        tfd_note_unseen_self(directory, TFD_PROGRAM_NOT_JOINED);
    return true;
}

/* A session began or ended. A change that comes meanwhile is seen at the next call. */
static void meet_sessions(bool opens)
{
    int cancel_state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    if (tfd_attach_lock_timed()) {
        uint32_t counter = atomic_load(&tfd_job_page()->counter);
        bool met = leave_and_join();
        tell_missed_opens();
        if (met)
            tfd_late_attach_set_seen(counter);
        tfd_attach_unlock();
    } else if (opens && !atomic_load(&tfd_shared->generation)) {
        tfd_missed_opens_add();
    }
    pthread_setcancelstate(cancel_state, NULL);
}

static void find_late_attach_slots(const void *interpreter)
{
    if (late_attach_is_known || handle_forks())
        return;
    tfd_late_attach_prepare(interpreter, meet_sessions);
    late_attach_is_known = true;
}

static bool watch_page(void)
{
    const struct tfd_job_page *page = tfd_job_page_open();
    if (page)
        tfd_late_attach_watch(&page->counter);
    return page;
}

/* This does not wait for the loader's locks if another thread may hold them, since that thread may wait for a lock that
 * this one holds. */
static void prepare_children(void)
{
    static bool tried;
    if (tried || (!is_initialized && !tfd_has_one_thread()))
        return;
    tried = true;
    children_can_wait = !initialize_once() && watch_page();
}

void tfd_job_wait_for_sessions(const void *interpreter)
{
    tfd_attach_lock();
    if (!late_attach_is_known && watch_page()) {
        find_late_attach_slots(interpreter);
        tfd_late_attach_arm();
    }
    tfd_attach_unlock();
}

void tfd_job_take_over(const void *interpreter, void *(*found)(void **slot))
{
    tfd_late_attach_replace(found);
    tfd_job_wait_for_sessions(interpreter);
}

void tfd_job_meet(const void *interpreter)
{
    tfd_job_wait_for_sessions(interpreter);
    if (tfd_job_page())
        meet_sessions(false);
}

void tfd_job_begin(const void *interpreter)
{
    static bool has_begun;
    Dl_info core;
    tfd_attach_lock();
    if (!has_begun && dladdr(&has_begun, &core) && !initialize_once()) {
        tfd_rendezvous_name_job(core.dli_fname);
        find_late_attach_slots(interpreter);
        has_begun = true;
    }
    tfd_attach_unlock();
}

static uint64_t elapsed_ns_since(const struct tfd_clock_sample *begin)
{
    return (uint64_t)(tfd_clock_sample_now().monotonic_ns - begin->monotonic_ns);
}

int tfd_session_start(const struct tfd_options *options, struct tfd_attach_report *report)
{
    struct tfd_clock_sample begin = tfd_clock_sample_now();
    *report = (struct tfd_attach_report){0};
    tfd_attach_lock();
    int status = start(options, report);
    tfd_attach_unlock();
    report->elapsed_ns = elapsed_ns_since(&begin);
    return status;
}

static int stop(struct tfd_attach_report *report)
{
    struct tfd_spool *spool = &tfd_session.spool;
    if (!tfd_is_recording_here())
        return tfd_fail(EINVAL, "no session is recording in this process");
    tfd_streams_count_moved();
    tfd_recording_take_closing_snapshots(spool->header);
    tfd_got_undo(report);
    note_aio(spool->header);
    tfd_late_libraries_report(report);
    tfd_emulation_remove();
    tfd_darshan_end(1);
    atomic_store(&tfd_shared->generation, 0);
    bool quiet = tfd_quiesce();
    quiet &= tfd_fold_thread_stop();
    quiet &= tfd_mapped_reads_end();
    tfd_darshan_detach();
    tfd_session.active = false;
    tfd_environment_withdraw();
    atomic_store(&spool->header->state, TFD_SPOOL_STOPPED); /* before the request: see tfd_child_begin */
    if (tfd_session.pid == tfd_session.owner_pid)
        tfd_storage_close();
    if (tfd_session.pid == tfd_session.owner_pid && tfd_session.follow_children) {
        tfd_request_stop(tfd_session.directory, tfd_session.pid);
        tfd_rendezvous_withdraw();
    }
    if (!quiet) /* the mapping stays, since a stuck thread may still write to it */
        return tfd_fail(EAGAIN,
                        "a thread did not leave the recorder within a second; its memory stays mapped");
    tfd_kernel_io_own(&spool->header->kernel_stop); /* restoring slots has read the list of mappings */
    tfd_fold_finish(spool);
    tfd_spool_unmap(spool);
    return 0;
}

int tfd_session_stop(struct tfd_attach_report *report)
{
    struct tfd_clock_sample begin = tfd_clock_sample_now();
    *report = (struct tfd_attach_report){0};
    tfd_attach_lock();
    int status = stop(report);
    tfd_attach_unlock();
    report->elapsed_ns = elapsed_ns_since(&begin);
    return status;
}

int tfd_session_active(void)
{
    return tfd_session.active;
}

int tfd_hook_available(size_t hook)
{
    return hook < TFD_HOOK_COUNT && !tfd_attach_initialize() && tfd_next_of((unsigned)hook);
}

uint64_t tfd_hook_slots(size_t hook)
{
    tfd_attach_lock();
    uint64_t count = hook < TFD_HOOK_COUNT ? tfd_got_slots((unsigned)hook) : 0;
    tfd_attach_unlock();
    return count;
}
