#define _GNU_SOURCE
#include "batches/batch_log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The file grows by as much: a page of a full file system that is touched ends the process. */
#define GROWTH_BYTES ((size_t)64 << 10)

_Static_assert(sizeof(struct tfd_batch_header) == sizeof(struct tfd_batch_row) &&
                   GROWTH_BYTES % sizeof(struct tfd_batch_row) == 0,
               "no row lies across two parts of the file");

static struct {
    char folder[PATH_MAX];
    char path[PATH_MAX + 64];
    uint64_t session, sessions;
    int64_t ahead_ns; /* what CLOCK_REALTIME was ahead of CLOCK_MONOTONIC as the session began */
    pid_t pid, owner; /* this process, and the one that the session began in */
    struct tfd_batch_header *header; /* NULL before a child's first row, and if there cannot be any */
    char *part;                      /* the last GROWTH_BYTES of the file; the first ones have the header */
    size_t reserved_bytes;
    bool failed;
} noted;

static _Thread_local int64_t own_thread;

static int64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t tfd_realtime_ahead_ns(void)
{
    /* Both clocks cannot be read at one instant: the shortest of a few attempts is the best. */
    int64_t ahead_ns = 0, best_ns = INT64_MAX;
    for (int attempt = 0; attempt < 5; attempt++) {
        int64_t before_ns = clock_ns(CLOCK_MONOTONIC), now_ns = clock_ns(CLOCK_REALTIME),
                took_ns = clock_ns(CLOCK_MONOTONIC) - before_ns;
        if (took_ns < best_ns) {
            best_ns = took_ns;
            ahead_ns = now_ns - before_ns - took_ns / 2;
        }
    }
    return ahead_ns;
}

int64_t tfd_batch_log_ahead_ns(void)
{
    return noted.ahead_ns;
}

int64_t tfd_batch_log_now(void)
{
    return clock_ns(CLOCK_MONOTONIC) + noted.ahead_ns;
}

static void leave_part(void)
{
    if (noted.part && noted.part != (char *)noted.header)
        munmap(noted.part, GROWTH_BYTES);
    noted.part = NULL;
}

static void close_file(void)
{
    leave_part();
    if (noted.header)
        munmap(noted.header, GROWTH_BYTES);
    noted.header = NULL;
    noted.reserved_bytes = 0;
    noted.failed = false;
}

void tfd_batch_log_end(void)
{
    close_file();
    noted.session = 0;
}

uint64_t tfd_batch_log_session(void)
{
    return noted.session;
}

bool tfd_batch_log_forked(void)
{
    pid_t pid = getpid();
    if (noted.pid == pid)
        return false;
    /* The mapping is the parent's, which goes on in it. */
    close_file();
    noted.pid = pid;
    own_thread = 0;
    return true;
}

/* What is beyond this limit of the process ends it by a signal. */
static bool is_allowed(size_t bytes)
{
    struct rlimit limit;
    return !getrlimit(RLIMIT_FSIZE, &limit) && (limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur);
}

static bool allocate(int descriptor, off_t offset)
{
    int error;
    do
        error = posix_fallocate(descriptor, offset, (off_t)GROWTH_BYTES);
    while (error == EINTR);
    return !error;
}

/* Makes the file longer and maps what was added, in place of the part before. */
static bool grow(int descriptor)
{
    size_t end = noted.reserved_bytes + GROWTH_BYTES;
    off_t offset = (off_t)noted.reserved_bytes;
    if (!is_allowed(end) || !allocate(descriptor, offset))
        return false;
    void *part = mmap(NULL, GROWTH_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, offset);
    if (part == MAP_FAILED)
        return false;
    leave_part();
    noted.part = part;
    noted.reserved_bytes = end;
    return true;
}

/* Has the file so many bytes. It is opened for that alone: a job may close descriptors that it does not know, and
 * be given their numbers. */
static bool reserve(size_t bytes)
{
    if (bytes <= noted.reserved_bytes)
        return true;
    int descriptor = open(noted.path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (descriptor < 0)
        return false;
    bool grown = grow(descriptor);
    close(descriptor);
    return grown;
}

static bool make_file(void)
{
    snprintf(noted.path, sizeof noted.path, "%s/%ld.%lld%s", noted.folder, (long)noted.pid,
             (long long)tfd_batch_log_now(), TFD_BATCH_SUFFIX);
    int descriptor = open(noted.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (descriptor < 0)
        return false;
    bool grown = grow(descriptor);
    close(descriptor);
    if (!grown)
        return false;
    noted.header = (struct tfd_batch_header *)(void *)noted.part;
    *noted.header = (struct tfd_batch_header){
        .magic = TFD_BATCH_MAGIC,
        .version = TFD_BATCH_VERSION,
        .row_bytes = sizeof(struct tfd_batch_row),
        .pid = noted.pid,
    };
    return true;
}

static void open_file(void)
{
    if (make_file())
        return;
    close_file();
    noted.failed = true;
}

void tfd_batch_log_begin(const char *folder, int64_t ahead_ns)
{
    tfd_batch_log_end();
    if (strlen(folder) >= sizeof noted.folder)
        return;
    strcpy(noted.folder, folder);
    noted.ahead_ns = ahead_ns;
    noted.pid = noted.owner = getpid();
    noted.session = ++noted.sessions;
    open_file();
}

/* The next row, which counts once it is whole; NULL if there is no room. */
static struct tfd_batch_row *next_row(void)
{
    if (!noted.session)
        return NULL;
    if (!noted.header && !noted.failed)
        open_file();
    if (!noted.header)
        return NULL;
    size_t offset = sizeof *noted.header + noted.header->rows * sizeof(struct tfd_batch_row);
    noted.failed = noted.failed || !reserve(offset + sizeof(struct tfd_batch_row));
    if (noted.failed) {
        noted.header->left_out++;
        return NULL;
    }
    return (struct tfd_batch_row *)(void *)(noted.part + offset % GROWTH_BYTES);
}

static void count_row(void)
{
    __atomic_store_n(&noted.header->rows, noted.header->rows + 1, __ATOMIC_RELEASE);
}

static int64_t this_thread(void)
{
    if (!own_thread)
        own_thread = syscall(SYS_gettid);
    return own_thread;
}

void tfd_batch_log_add(enum tfd_batch_kind kind, enum tfd_batch_outcome outcome, struct tfd_batch_times times)
{
    struct tfd_batch_row *row = next_row();
    if (!row)
        return;
    times.thread = this_thread();
    *row = (struct tfd_batch_row){.kind = (int32_t)kind, .outcome = (int32_t)outcome, .times = times};
    count_row();
}

void tfd_batch_log_add_step(int32_t loop, struct tfd_batch_step step)
{
    struct tfd_batch_row *row = noted.pid == noted.owner ? next_row() : NULL;
    if (!row)
        return;
    *row = (struct tfd_batch_row){.kind = TFD_BATCH_STEP, .outcome = loop, .step = step};
    count_row();
}

void tfd_batch_log_note(const char *text, size_t length)
{
    while (length) {
        struct tfd_batch_row *row = next_row();
        if (!row)
            return;
        size_t taken = length < sizeof row->text ? length : sizeof row->text;
        *row = (struct tfd_batch_row){.kind = TFD_BATCH_TEXT, .outcome = (int32_t)(length - taken)};
        memcpy(row->text, text, taken);
        count_row();
        text += taken;
        length -= taken;
    }
}
