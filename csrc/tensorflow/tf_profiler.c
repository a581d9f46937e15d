#define _GNU_SOURCE
#include "tensorflow/tf_profiler.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "attach.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/memory_left.h"
#include "reader/reader_trace.h"
#include "recorder/session.h"
#include "tensorflow/io_plane.h"
#include "tensorflow/tf_settings.h"
#include "tfdarshan.h"

#define XSPACE_LIMIT_BYTES (512u << 20)

/* OWN: a recording for this session. JOINED: a part of a recording that ran already. */
enum mode { IDLE, OWN, JOINED };

/* The session that TensorFlow runs, or ran last: it runs one at a time. */
static struct {
    enum mode mode;
    pid_t pid;
    bool ended, built, shown_error;
    int spool; /* open descriptor of a joined recording's spool, which may be removed before the trace is collected */
    char directory[TFD_SPOOL_PATH_MAX]; /* OWN */
    struct tfd_clock_sample start;
    int64_t end_monotonic_ns;
    struct tfd_bytes planes;
    char error[256];
} session = {.spool = -1};
static struct tfd_tf_report last;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Another thread may have been changing the session. Then nothing of it is used or freed. */
static void reset_session_in_child(void)
{
    if (pthread_mutex_trylock(&lock)) {
        memset(&session, 0, sizeof session);
        session.spool = -1;
    }
    pthread_mutex_init(&lock, NULL);
}

static void reset_in_child(void)
{
    tfd_tf_settings_reset_in_child();
    reset_session_in_child();
}

/* This runs before any thread can use a session or its settings. */
__attribute__((constructor)) static void at_load(void)
{
    tfd_attach_set_reset_in_child(reset_in_child);
}

static void remove_directory(const char *path)
{
    DIR *directory = opendir(path);
    if (directory) {
        struct dirent *entry;
        while ((entry = readdir(directory)))
            unlinkat(dirfd(directory), entry->d_name, 0);
        closedir(directory);
    }
    rmdir(path);
}

/* Discard a session that was not collected. */
static void discard(void)
{
    if (session.pid == getpid() && session.mode == OWN) {
        struct tfd_attach_report report;
        if (!session.ended)
            tfd_session_stop(&report);
        if (session.directory[0])
            remove_directory(session.directory);
    }
    if (session.spool >= 0)
        close(session.spool);
    session.spool = -1;
    session.directory[0] = session.error[0] = '\0';
    session.mode = IDLE;
    session.ended = session.built = false;
    tfd_bytes_free(&session.planes);
}

static void say(const char *what, const char *why)
{
    snprintf(session.error, sizeof session.error, "%s: %s", what, why);
    if (!session.shown_error)
        fprintf(stderr, "tfdarshan: %s.\n", session.error);
    session.shown_error = true;
}

static void join(void)
{
    session.spool = open(tfd_session.spool.path, O_RDONLY | O_CLOEXEC);
    if (session.spool >= 0)
        session.mode = JOINED;
    else
        say("the running recording could not be shown in TensorFlow's profile", strerror(errno));
}

static int make_spool_directory(const struct tfd_tf_settings *settings, uint64_t *capacity_bytes)
{
    struct statvfs room;
    const char *parent = settings->options.spool_directory;
    if (statvfs(parent, &room))
        return tfd_fail(errno, "the spool folder %s cannot be used: %s", parent, strerror(errno));
    uint64_t free_bytes = (uint64_t)room.f_bavail * room.f_frsize;
    if (free_bytes < settings->smallest_bytes)
        return tfd_fail(ENOSPC, "the spool folder %s has only %llu MiB free", parent,
                        (unsigned long long)(free_bytes >> 20));
    if (*capacity_bytes > free_bytes)
        *capacity_bytes = free_bytes;
    int length = snprintf(session.directory, sizeof session.directory, "%s/tfdarshan-%u-tensorflow-%d-XXXXXX",
                          parent, (unsigned)getuid(), (int)getpid());
    if (length < 0 || (size_t)length >= sizeof session.directory || !mkdtemp(session.directory)) {
        session.directory[0] = '\0';
        return tfd_fail(errno, "no spool can be made in %s: %s", parent, strerror(errno));
    }
    return 0;
}

static void record(const struct tfd_tf_settings *settings)
{
    struct tfd_options options = settings->options;
    struct tfd_attach_report report;
    int status = make_spool_directory(settings, &options.capacity_bytes);
    options.spool_directory = session.directory;
    if (options.trace_limit_bytes > options.capacity_bytes)
        options.trace_limit_bytes = options.capacity_bytes;
    tfd_fit_address_space(&options.capacity_bytes, &options.trace_limit_bytes);
    if (!status)
        status = tfd_session_start(&options, &report);
    if (!status) {
        session.mode = OWN;
        return;
    }
    if (session.directory[0])
        remove_directory(session.directory);
    session.directory[0] = '\0';
    say("this profile has no I/O", tfd_last_error());
}

void tfd_tf_session_begin(void)
{
    pthread_mutex_lock(&lock);
    discard();
    session.pid = getpid();
    session.start = tfd_clock_sample_now();
    last = (struct tfd_tf_report){.session = last.session + 1};
    snprintf(last.mark, sizeof last.mark, "tfdarshan %d %lld", (int)session.pid,
             (long long)session.start.realtime_ns);
    const struct tfd_tf_settings *settings = tfd_tf_settings_acquire();
    if (tfd_session_active())
        join();
    else if (settings)
        record(settings);
    tfd_tf_settings_release();
    last.joined = session.mode == JOINED;
    pthread_mutex_unlock(&lock);
}

void tfd_tf_session_end(void)
{
    pthread_mutex_lock(&lock);
    if (!session.ended && session.pid == getpid()) {
        struct tfd_attach_report report;
        session.end_monotonic_ns = tfd_clock_ns(CLOCK_MONOTONIC);
        if (session.mode == OWN && tfd_session_stop(&report))
            say("recording I/O did not end cleanly", tfd_last_error());
        session.ended = true;
    }
    pthread_mutex_unlock(&lock);
}

/* Take a copy of a recording that goes on, as it is at one moment. The copy is marked as stopped, so that the reader maps
 * it and does not copy it again. */
static void take_copy(void)
{
    const uint32_t stopped = TFD_SPOOL_STOPPED;
    int copy = memfd_create("tfdarshan", MFD_CLOEXEC);
    bool copied = copy >= 0 && !tfd_session_copy(session.spool, copy) &&
                  pwrite(copy, &stopped, sizeof stopped, offsetof(struct tfd_spool_header, state)) > 0;
    int unused = copied ? session.spool : copy;
    if (copied)
        session.spool = copy;
    if (unused >= 0)
        close(unused);
}

/* Counters are needed only if the session is rebuilt from the trace. */
static struct tfd_reader *open_spool(bool with_session)
{
    char path[TFD_SPOOL_PATH_MAX + 32];
    if (session.mode == JOINED)
        take_copy();
    if (session.mode == OWN)
        snprintf(path, sizeof path, "%s/%d.spool", session.directory, (int)session.pid);
    else
        snprintf(path, sizeof path, "/proc/self/fd/%d", session.spool);
    return with_session ? tfd_reader_open(path) : tfd_reader_open_trace(path);
}

static void build_from(struct tfd_reader *reader, bool with_session)
{
    struct tfd_trace_info info;
    struct tfd_plane_counts counts = {0};
    tfd_reader_trace_info(reader, &info);
    const struct tfd_tf_settings *settings = tfd_tf_settings_acquire();
    struct tfd_plane_request request = {
        .end_ns = INT64_MAX,
        .realtime_ns = info.start_realtime_ns,
        .mark = last.mark,
        .max_events = settings ? settings->max_events : TFD_TF_MAX_EVENTS,
        .with_session = with_session,
    };
    tfd_tf_settings_release();
    if (session.mode == JOINED) {
        request.start_ns = session.start.monotonic_ns - info.start_monotonic_ns;
        request.end_ns = session.end_monotonic_ns - info.start_monotonic_ns;
        request.realtime_ns = session.start.realtime_ns;
    }
    int status = tfd_io_plane(reader, &request, &session.planes, &counts);
    last.start_ns = request.start_ns;
    last.end_ns = request.end_ns;
    last.events = counts.events;
    last.left_out = counts.left_out;
    if (status) {
        tfd_bytes_free(&session.planes);
        session.planes.limit = XSPACE_LIMIT_BYTES;
        say("this profile has no I/O", "no memory for its planes");
    }
}

static void build(void)
{
    session.planes.limit = XSPACE_LIMIT_BYTES;
    if (session.mode != IDLE) {
        bool with_session = !tfd_tf_session_is_written();
        struct tfd_reader *reader = open_spool(with_session);
        if (reader)
            build_from(reader, with_session);
        else
            say("this profile has no I/O", tfd_last_error());
        tfd_reader_close(reader);
    }
    if (session.error[0] && !session.planes.length)
        tfd_note_plane(&session.planes, session.start.realtime_ns, last.mark, session.error);
    if (session.planes.failed)
        tfd_bytes_free(&session.planes);
    session.built = true;
}

size_t tfd_tf_session_size(void)
{
    pthread_mutex_lock(&lock);
    if (session.pid == getpid() && session.ended && !session.built)
        build();
    size_t size = session.pid == getpid() ? session.planes.length : 0;
    if (!size)
        discard();
    pthread_mutex_unlock(&lock);
    return size;
}

void tfd_tf_session_take(uint8_t *buffer, size_t size)
{
    pthread_mutex_lock(&lock);
    size_t length = session.planes.length < size ? session.planes.length : size;
    if (length)
        memcpy(buffer, session.planes.data, length);
    discard();
    pthread_mutex_unlock(&lock);
}

int tfd_tf_last_session(struct tfd_tf_report *report)
{
    pthread_mutex_lock(&lock);
    *report = last;
    report->recording = session.pid == getpid() && session.mode == OWN && !session.ended;
    pthread_mutex_unlock(&lock);
    return 0;
}

/* The recording of an open session ends with the process. */
__attribute__((destructor)) static void at_exit(void)
{
    if (session.pid == getpid() && !pthread_mutex_trylock(&lock)) {
        discard();
        pthread_mutex_unlock(&lock);
    }
}
