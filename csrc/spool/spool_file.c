#define _GNU_SOURCE
#include "spool/spool_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/error.h"
#include "spool/memory_cap.h"

#define FIRST_RESERVE_BYTES (128u << 10)
#define RESERVE_STEP_BYTES (512u << 10) /* largest step: a short program needs little, and pages cost time */
#define LARGE_BYTES (64u << 10)
#define ALIGNMENT 16u
#define MOST_PROGRAMS 1000 /* programs that one process runs in turn by exec(3), at most */

/* End of an allocation that the file system has refused. It is not tried again, which would be at every call. */
static _Atomic uint64_t refused_end;
static pthread_mutex_t reserve_lock = PTHREAD_MUTEX_INITIALIZER;

void tfd_spool_reset_locks_in_child(void)
{
    pthread_mutex_init(&reserve_lock, NULL);
}

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

/* Unused parts can be neither read nor written, so that a host that locks all its memory (mlockall) locks only the used
 * part of a spool. */
static int make_accessible(const struct tfd_spool *spool, uint64_t start, uint64_t end)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), from = start & ~(page - 1);
    uint64_t until = (end + page - 1) & ~(page - 1);
    return mprotect(spool->base + from, until - from, PROT_READ | PROT_WRITE) ? errno : 0;
}

/* This keeps no descriptor open: the host may close descriptors that it does
 * not know (closefrom), and its next file would get ours. */
static int allocate_blocks(const struct tfd_spool *spool, uint64_t start, uint64_t end)
{
    int refused = make_accessible(spool, start, end);
    if (refused)
        return refused;
    if (!madvise(spool->base + start, end - start, MADV_POPULATE_WRITE))
        return 0;
    if (errno != EINVAL)
        return ENOSPC;
    int fd = open(spool->path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return errno;
    int error;
    do
        error = posix_fallocate(fd, (off_t)start, (off_t)(end - start));
    while (error == EINTR);
    close(fd);
    return error;
}

static bool reserve_until(struct tfd_spool *spool, uint64_t reserved, uint64_t end)
{
    uint64_t target = (end + 4095) & ~(uint64_t)4095;
    if (target > spool->capacity_bytes)
        target = spool->capacity_bytes;
    bool done = tfd_memory_cap_claim(target) && !allocate_blocks(spool, reserved, target);
    if (done)
        atomic_store(&spool->header->reserved_bytes, target);
    return done;
}

/* Blocks are allocated before they are written: a full file system then is an error code here instead of a SIGBUS in a
 * training step. Nobody cancels the thread meanwhile. */
static bool reserve(struct tfd_spool *spool, uint64_t end)
{
    struct tfd_spool_header *header = spool->header;
    if (!spool->path[0] || end <= atomic_load(&header->reserved_bytes))
        return true;
    if (end >= atomic_load(&refused_end))
        return false;
    int cancel_state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    pthread_mutex_lock(&reserve_lock);
    uint64_t reserved = atomic_load(&header->reserved_bytes);
    uint64_t step = reserved / 4 < RESERVE_STEP_BYTES ? reserved / 4 : RESERVE_STEP_BYTES;
    bool done =
        end <= reserved || reserve_until(spool, reserved, end + step) || reserve_until(spool, reserved, end);
    if (!done)
        atomic_store(&refused_end, end);
    pthread_mutex_unlock(&reserve_lock);
    pthread_setcancelstate(cancel_state, NULL);
    return done;
}

/* A thread allocates a large block of events itself, in parallel with other
 * threads. Small pieces share an allocation. */
static bool make_usable(struct tfd_spool *spool, uint64_t start, uint64_t size)
{
    if (size < LARGE_BYTES)
        return reserve(spool, start + size);
    uint64_t first_page = start & ~(uint64_t)4095, end = (start + size + 4095) & ~(uint64_t)4095;
    int cancel_state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    bool done = !spool->path[0] || (tfd_memory_cap_claim(end) && !allocate_blocks(spool, first_page, end));
    pthread_setcancelstate(cancel_state, NULL);
    return done;
}

void tfd_arena_give_back(struct tfd_spool *spool, uint64_t offset, uint64_t size)
{
    uint64_t used = offset + ((size + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1));
    atomic_compare_exchange_strong(&spool->header->used_bytes, &used, offset);
}

uint64_t tfd_arena_allocate(struct tfd_spool *spool, uint64_t size)
{
    return tfd_arena_allocate_leaving(spool, size, 0);
}

uint64_t tfd_arena_allocate_leaving(struct tfd_spool *spool, uint64_t size, uint64_t free_bytes)
{
    struct tfd_spool_header *header = spool->header;
    size = (size + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1);
    uint64_t needed = size + free_bytes, offset = atomic_load(&header->used_bytes);
    do {
        if (needed > spool->capacity_bytes || offset > spool->capacity_bytes - needed)
            return 0;
    } while (!atomic_compare_exchange_weak(&header->used_bytes, &offset, offset + size));
    if (make_usable(spool, offset, size))
        return offset;
    tfd_spool_note_full(header, TFD_FULL_CAP);
    tfd_arena_give_back(spool, offset, size);
    return 0;
}

bool tfd_arena_keep_usable(struct tfd_spool *spool, uint64_t size)
{
    uint64_t end = atomic_load(&spool->header->used_bytes) + size;
    bool usable = end <= spool->capacity_bytes && reserve(spool, end);
    if (!usable)
        tfd_spool_note_full(spool->header, TFD_FULL_CAP);
    return usable;
}

/* Return the bytes of whole pages within [from, until) that the file system took back. */
static uint64_t release(const struct tfd_spool *spool, uint64_t from, uint64_t until)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), first = (from + page - 1) & ~(page - 1);
    uint64_t last = until & ~(page - 1);
    return first < last && !madvise(spool->base + first, last - first, MADV_REMOVE) ? last - first : 0;
}

/* Release the rows of a growing array that were never used, which are at the end of its last segment. */
static uint64_t release_rows(const struct tfd_spool *spool, const uint64_t *segments, uint32_t first,
                             uint32_t count, uint64_t row_bytes)
{
    uint32_t place, segment = tfd_segment_of(count - 1, first, &place);
    uint64_t begin = segments[segment], rows = (uint64_t)first << segment;
    return release(spool, begin + (place + 1) * row_bytes, begin + rows * row_bytes);
}

/* Meanwhile no other thread allocates: what it has allocated before is below `used`. */
static uint64_t release_reserve(struct tfd_spool *spool)
{
    struct tfd_spool_header *header = spool->header;
    uint64_t used = atomic_exchange(&header->used_bytes, spool->capacity_bytes);
    uint64_t reserved = atomic_load(&header->reserved_bytes), end = (used + 4095) & ~(uint64_t)4095;
    if (end < reserved)
        atomic_store(&header->reserved_bytes, end);
    uint64_t released = release(spool, used, reserved);
    atomic_store(&header->used_bytes, used);
    return released;
}

uint64_t tfd_spool_give_back_room(struct tfd_spool *spool)
{
    const struct tfd_spool_header *header = spool->header;
    uint64_t files = release_rows(spool, header->file_segments, TFD_FILES_IN_FIRST_SEGMENT,
                                  atomic_load(&header->file_count), sizeof(struct tfd_file));
    uint64_t threads = release_rows(spool, header->thread_segments, TFD_THREADS_IN_FIRST_SEGMENT,
                                    atomic_load(&header->thread_count), sizeof(struct tfd_thread));
    uint64_t released = files + threads + release_reserve(spool);
    tfd_memory_cap_give_back(released);
    return released;
}

bool tfd_spool_take_back_room(struct tfd_spool *spool, uint64_t bytes)
{
    tfd_memory_cap_take_back(bytes);
    return !allocate_blocks(spool, 0, atomic_load(&spool->header->reserved_bytes));
}

uint64_t tfd_arena_copy_string(struct tfd_spool *spool, const char *text, size_t length)
{
    uint64_t offset = tfd_arena_allocate(spool, length + 1);
    if (offset)
        memcpy(tfd_at(spool, offset), text, length);
    return offset;
}

/* Create a file named after the process. If an earlier program of the same process has left a spool, the name also has
 * the program's number. */
static int open_new_file(struct tfd_spool *spool, const char *directory)
{
    int pid = (int)getpid();
    for (int program = 1; program <= MOST_PROGRAMS; program++) {
        int length = program == 1 ? snprintf(spool->path, sizeof spool->path, "%s/%d.spool", directory, pid)
                                  : snprintf(spool->path, sizeof spool->path, "%s/%d.%d.spool", directory,
                                             pid, program);
        if (length < 0 || (size_t)length >= sizeof spool->path)
            return tfd_fail(ENAMETOOLONG, "the spool directory's name is too long: %s", directory);
        int fd = open(spool->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd >= 0 || errno != EEXIST)
            return fd >= 0 ? fd
                           : tfd_fail(errno, "cannot create the spool %s: %s", spool->path, strerror(errno));
    }
    return tfd_fail(EEXIST, "cannot create the spool %s: %d programs of this process have one", spool->path,
                    MOST_PROGRAMS);
}

static int map_file(struct tfd_spool *spool, int fd, uint64_t capacity_bytes)
{
    if (ftruncate(fd, (off_t)capacity_bytes))
        return errno;
    spool->base = mmap(NULL, capacity_bytes, PROT_NONE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (spool->base == MAP_FAILED)
        return errno;
    munlock(spool->base, capacity_bytes); /* after mlockall(MCL_FUTURE) */
    return allocate_blocks(spool, 0, FIRST_RESERVE_BYTES);
}

static int map_new_file(struct tfd_spool *spool, const char *directory, uint64_t capacity_bytes)
{
    int fd = open_new_file(spool, directory);
    if (fd < 0)
        return fd;
    spool->base = MAP_FAILED;
    int error = map_file(spool, fd, capacity_bytes);
    close(fd);
    if (!error) {
        /* A child must never write into its parent's spool, not even after _Fork(). */
        madvise(spool->base, capacity_bytes, MADV_DONTFORK);
        return 0;
    }
    if (spool->base != MAP_FAILED)
        munmap(spool->base, capacity_bytes);
    unlink(spool->path);
    return tfd_fail(error, "cannot reserve memory for the spool %s: %s; %s", spool->path, strerror(error),
                    error == ENOSPC ? "choose another spool directory" : "lower memory_cap_mb");
}

/* A file beyond the process's limit of file sizes would end the host with SIGXFSZ. */
static uint64_t within_file_size_limit(uint64_t capacity_bytes)
{
    struct rlimit limit;
    bool limited = !getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur < capacity_bytes;
    return limited ? limit.rlim_cur : capacity_bytes;
}

int tfd_spool_create(struct tfd_spool *spool, const char *directory, uint64_t capacity_bytes)
{
    atomic_store(&refused_end, UINT64_MAX);
    capacity_bytes = within_file_size_limit(capacity_bytes) & ~(uint64_t)4095;
    if (capacity_bytes < FIRST_RESERVE_BYTES)
        return tfd_fail(EFBIG, "a spool needs more than the %llu bytes that it may take here (ulimit -f)",
                        (unsigned long long)capacity_bytes);
    int status = map_new_file(spool, directory, capacity_bytes);
    if (status)
        return status;
    spool->capacity_bytes = capacity_bytes;
    spool->header = (struct tfd_spool_header *)spool->base;
    struct tfd_spool_header *header = spool->header;
    header->version = TFD_SPOOL_VERSION;
    header->place_bytes = sizeof(tfd_place);
    header->capacity_bytes = capacity_bytes;
    header->pid = (int32_t)getpid();
    atomic_store(&header->reserved_bytes, FIRST_RESERVE_BYTES);
    atomic_store(&header->used_bytes, (sizeof *header + 63) & ~(uint64_t)63);
    return 0;
}

void tfd_spool_publish(struct tfd_spool *spool)
{
    atomic_store(&spool->header->state, TFD_SPOOL_RECORDING);
    memcpy(spool->header->magic, TFD_SPOOL_MAGIC, sizeof spool->header->magic);
}

void tfd_spool_unmap(struct tfd_spool *spool)
{
    tfd_memory_cap_leave();
    munmap(spool->base, spool->capacity_bytes);
    memset(spool, 0, sizeof *spool);
}

void tfd_spool_replace_in_child(struct tfd_spool *spool)
{
    spool->path[0] = '\0'; /* so that no blocks are allocated in the parent's file */
    mmap(spool->base, spool->capacity_bytes, PROT_READ | PROT_WRITE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}
