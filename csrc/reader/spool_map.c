#define _GNU_SOURCE
#include "reader/spool_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "counters/fold_state.h"
#include "tfdarshan.h"

/* Room to fold any spool: the unions' rings with their smaller predecessors, the merge's heap, and for each file a
 * record with every group and the longest tables. It is only address space until it is touched. */
#define FIXED_TAIL_BYTES                                                                                     \
    ((uint64_t)TFD_UNION_COUNT * 2 * TFD_READER_INTERVALS * sizeof(struct interval) + (16u << 20))
#define TAIL_BYTES_PER_FILE 4096u
#define TAIL_BYTES_PER_THREAD 128u

static uint64_t round_to_page(uint64_t bytes)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) & ~(page - 1);
}

/* After it, the spool's arena begins. */
static size_t header_bytes(const struct tfd_spool_header *header)
{
    if (header->version == TFD_OLDEST_SPOOL_VERSION)
        return offsetof(struct tfd_spool_header, thinned);
    if (header->version == TFD_THINNED_SPOOL_VERSION)
        return offsetof(struct tfd_spool_header, untraced);
    return header->version == TFD_UNTRACED_SPOOL_VERSION ? offsetof(struct tfd_spool_header, bypasses)
                                                         : sizeof *header;
}

static int check_magic(const struct tfd_spool_header *header, ssize_t got, const char *path)
{
    static const char empty[sizeof header->magic];
    if (got >= (ssize_t)sizeof empty && !memcmp(header->magic, empty, sizeof empty))
        return tfd_fail(ENODATA, "%s holds nothing: its process ended while the session was being started",
                        path);
    if (got < (ssize_t)sizeof *header && got < 16)
        return tfd_fail(EINVAL, "%s is not a spool of tfdarshan: it is too short", path);
    if (memcmp(header->magic, TFD_SPOOL_MAGIC, sizeof header->magic))
        return tfd_fail(EINVAL, "%s is not a spool of tfdarshan", path);
    if (header->version > TFD_SPOOL_VERSION)
        return tfd_fail(EPROTO,
                        "%s was written by a newer tfdarshan (spool version %u, this one reads version %u); "
                        "read it with that one",
                        path, (unsigned)header->version, TFD_SPOOL_VERSION);
    if (header->version && header->version < TFD_OLDEST_SPOOL_VERSION)
        return tfd_fail(
            EPROTO,
            "%s was written by an older tfdarshan (spool version %u, this one reads version %u and "
            "later); read it with that one",
            path, (unsigned)header->version, TFD_OLDEST_SPOOL_VERSION);
    if (got < (ssize_t)sizeof *header || header->version < TFD_OLDEST_SPOOL_VERSION ||
        header->place_bytes != sizeof(tfd_place))
        return tfd_fail(EINVAL, "%s is damaged: its header makes no sense", path);
    return 0;
}

static int read_header(int fd, const char *path, struct tfd_spool_header *header, uint64_t *file_bytes)
{
    struct stat status;
    if (fstat(fd, &status))
        return tfd_fail(errno, "cannot read the spool %s: %s", path, strerror(errno));
    if (!S_ISREG(status.st_mode))
        return tfd_fail(EINVAL, "%s is not a spool of tfdarshan: it is no regular file", path);
    memset(header, 0, sizeof *header);
    ssize_t got = pread(fd, header, sizeof *header, 0);
    if (got < 0)
        return tfd_fail(errno, "cannot read the spool %s: %s", path, strerror(errno));
    *file_bytes = (uint64_t)status.st_size;
    return check_magic(header, got, path);
}

int tfd_spool_identity(const char *path, struct tfd_process_identity *identity)
{
    struct tfd_spool_header header;
    uint64_t file_bytes = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    int status = fd < 0 ? tfd_fail(errno, "cannot open the spool %s: %s", path, strerror(errno))
                        : read_header(fd, path, &header, &file_bytes);
    if (fd >= 0)
        close(fd);
    if (status)
        return status;
    *identity = (struct tfd_process_identity){
        .pid = header.pid,
        .parent_pid = header.parent_pid,
        .joined = header.joined != TFD_JOINED_NOT,
        .process_start = header.process_start,
        .start_realtime_ns = header.start.realtime_ns,
        .start_monotonic_ns = header.start.monotonic_ns,
    };
    memcpy(identity->arguments, header.command, sizeof identity->arguments - 1);
    return 0;
}

static uint64_t tail_bytes(const struct tfd_spool_header *header, uint64_t limit)
{
    uint64_t files = header->file_count, threads = header->thread_count;
    uint64_t possible_files = limit / sizeof(struct tfd_file),
             possible_threads = limit / sizeof(struct tfd_thread);
    files = files < possible_files ? files : possible_files;
    threads = threads < possible_threads ? threads : possible_threads;
    return FIXED_TAIL_BYTES + files * TAIL_BYTES_PER_FILE + threads * TAIL_BYTES_PER_THREAD;
}

static int copy_file(int fd, const char *path, char *base, uint64_t bytes)
{
    for (uint64_t done = 0; done < bytes;) {
        ssize_t got = pread(fd, base + done, bytes - done, (off_t)done);
        if (got == 0)
            break;
        if (got < 0 && errno != EINTR)
            return tfd_fail(errno, "cannot read the spool %s: %s", path, strerror(errno));
        done += got > 0 ? (uint64_t)got : 0;
    }
    return 0;
}

/* A stopped spool does not change any more, so it is mapped. Any other spool
 * may belong to a live process and is copied, so that it stays as it was
 * checked. */
static int fill(struct spool_image *image, int fd, const char *path, bool stopped)
{
    char *base = image->spool.base;
    if (!stopped)
        return copy_file(fd, path, base, image->limit);
    if (mmap(base, round_to_page(image->limit), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd, 0) ==
        MAP_FAILED)
        return tfd_fail(errno, "cannot map the spool %s: %s", path, strerror(errno));
    return 0;
}

static int map_image(struct spool_image *image, int fd, const char *path)
{
    struct tfd_spool_header header;
    uint64_t file_bytes = 0;
    int status = read_header(fd, path, &header, &file_bytes);
    if (status)
        return status;
    uint64_t used = atomic_load(&header.used_bytes);
    bool plausible = used >= sizeof header && used <= file_bytes;
    image->damaged = !plausible;
    image->limit = plausible ? used : file_bytes;
    uint64_t tail = round_to_page(image->limit),
             total = tail + round_to_page(tail_bytes(&header, image->limit));
    char *base =
        mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return tfd_fail(errno, "no memory to read the spool %s", path);
    image->spool.base = base;
    image->spool.header = (struct tfd_spool_header *)base;
    image->spool.capacity_bytes = total;
    status = fill(image, fd, path, atomic_load(&header.state) == TFD_SPOOL_STOPPED);
    if (status) {
        tfd_spool_image_unmap(image);
        return status;
    }
    memcpy(base, &header, header_bytes(&header));
    atomic_store(&image->spool.header->used_bytes, tail);
    return 0;
}

int tfd_spool_map(struct spool_image *image, const char *path)
{
    memset(image, 0, sizeof *image);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return tfd_fail(errno, "cannot open the spool %s: %s", path, strerror(errno));
    int status = map_image(image, fd, path);
    close(fd);
    return status;
}

void tfd_spool_image_unmap(struct spool_image *image)
{
    if (image->spool.base)
        munmap(image->spool.base, image->spool.capacity_bytes);
    memset(image, 0, sizeof *image);
}

bool tfd_image_holds(const struct spool_image *image, uint64_t offset, uint64_t size)
{
    return offset >= header_bytes(image->spool.header) && offset <= image->limit &&
           size <= image->limit - offset;
}

bool tfd_image_holds_block(const struct spool_image *image, uint64_t offset, uint64_t size)
{
    return offset % 16 == 0 && tfd_image_holds(image, offset, size);
}
