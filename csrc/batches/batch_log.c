#define _GNU_SOURCE
#include "batches/batch_log.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define FILE_BYTES (sizeof(struct tfd_batch_header) + TFD_BATCH_MOST_ROWS * sizeof(struct tfd_batch_row))
/* The file grows by as much: a page of a full file system that is touched ends the process. */
#define GROWTH_BYTES ((size_t)64 << 10)

static struct {
    char folder[PATH_MAX];
    char path[PATH_MAX + 64];
    uint64_t session, sessions;
    pid_t pid;
    struct tfd_batch_header *header; /* NULL before the first row, and if there cannot be any */
    size_t reserved_bytes;
    bool failed;
} noted;

static _Thread_local int64_t own_thread;

int64_t tfd_batch_log_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void close_file(void)
{
    if (noted.header)
        munmap(noted.header, FILE_BYTES);
    noted.header = NULL;
    noted.reserved_bytes = 0;
    noted.failed = false;
}

void tfd_batch_log_begin(const char *folder)
{
    tfd_batch_log_end();
    if (strlen(folder) >= sizeof noted.folder)
        return;
    strcpy(noted.folder, folder);
    noted.pid = getpid();
    noted.session = ++noted.sessions;
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

static bool grow(int descriptor)
{
    size_t left = FILE_BYTES - noted.reserved_bytes, more = left < GROWTH_BYTES ? left : GROWTH_BYTES;
    if (!is_allowed(noted.reserved_bytes + more) ||
        posix_fallocate(descriptor, (off_t)noted.reserved_bytes, (off_t)more))
        return false;
    noted.reserved_bytes += more;
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
    return grown && bytes <= noted.reserved_bytes;
}

static bool make_file(void)
{
    snprintf(noted.path, sizeof noted.path, "%s/%ld.%lld%s", noted.folder, (long)noted.pid,
             (long long)tfd_batch_log_now(), TFD_BATCH_SUFFIX);
    int descriptor = open(noted.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (descriptor < 0)
        return false;
    void *mapping = MAP_FAILED;
    if (grow(descriptor))
        mapping = mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    close(descriptor);
    if (mapping == MAP_FAILED)
        return false;
    noted.header = mapping;
    *noted.header = (struct tfd_batch_header){
        .magic = TFD_BATCH_MAGIC,
        .version = TFD_BATCH_VERSION,
        .row_bytes = sizeof(struct tfd_batch_row),
        .pid = noted.pid,
    };
    return true;
}

/* The next row, which counts once it is whole; NULL if there is no room. */
static struct tfd_batch_row *next_row(void)
{
    if (!noted.session)
        return NULL;
    if (noted.failed) {
        if (noted.header)
            noted.header->left_out++;
        return NULL;
    }
    if (!noted.header && !make_file()) {
        close_file();
        noted.failed = true;
        return NULL;
    }
    size_t end = sizeof *noted.header + (noted.header->rows + 1) * sizeof(struct tfd_batch_row);
    if (end > FILE_BYTES || !reserve(end)) {
        noted.failed = true;
        noted.header->left_out++;
        return NULL;
    }
    return (struct tfd_batch_row *)(noted.header + 1) + noted.header->rows;
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
