#define _GNU_SOURCE
#include "offline/lmdb/read_call.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

enum { ALIGNMENT = 4096, DROPPED_BYTES = 64 << 10, MOST_VECTORS = 1024 };

static uint64_t aligned_up(uint64_t size)
{
    return (size + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1);
}

int tfd_lmdb_make_buffers(const struct tfd_lmdb_work *work, struct tfd_lmdb_buffers *buffers,
                          struct tfd_lmdb_error *error)
{
    /* A direct read begins and ends at an aligned byte. */
    uint64_t size = work->copied ? aligned_up(work->largest) + 2 * ALIGNMENT : 0;
    *buffers = (struct tfd_lmdb_buffers){.dropped = malloc(DROPPED_BYTES)};
    void *copied = NULL;
    if (!buffers->dropped || (size && posix_memalign(&copied, ALIGNMENT, size))) {
        tfd_lmdb_free_buffers(buffers);
        return tfd_lmdb_fail_system(error, ENOMEM, "no memory to read into");
    }
    buffers->copied = copied;
    return 0;
}

void tfd_lmdb_free_buffers(struct tfd_lmdb_buffers *buffers)
{
    free(buffers->dropped);
    free(buffers->copied);
    *buffers = (struct tfd_lmdb_buffers){0};
}

/* Skip the bytes that were read. */
static void advance(struct iovec **vectors, int *count, size_t bytes)
{
    while (*count && bytes >= (*vectors)->iov_len) {
        bytes -= (*vectors)->iov_len;
        ++*vectors;
        --*count;
    }
    if (bytes) {
        (*vectors)->iov_base = (uint8_t *)(*vectors)->iov_base + bytes;
        (*vectors)->iov_len -= bytes;
    }
}

/* Read `size` bytes. A direct read asks for more, which may be missing. */
static int read_vectors(int fd, struct iovec *vectors, int count, uint64_t offset, uint64_t size,
                        bool cached_only, struct tfd_lmdb_error *error)
{
    for (uint64_t done = 0; done < size;) {
        ssize_t got = cached_only ? preadv2(fd, vectors, count, (off_t)(offset + done), RWF_NOWAIT)
                                  : preadv(fd, vectors, count, (off_t)(offset + done));
        if (cached_only && got < (ssize_t)size)
            return TFD_LMDB_WOULD_WAIT;
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return tfd_lmdb_fail_system(error, errno, "cannot be read");
        if (!got)
            return tfd_lmdb_fail(error, TFD_LMDB_DAMAGED, "ends before byte %" PRIu64, offset + size);
        done += (uint64_t)got;
        if (done < size)
            advance(&vectors, &count, (size_t)got);
    }
    return TFD_LMDB_DONE;
}

static int read_to_places(const struct tfd_lmdb_work *work, const struct tfd_lmdb_call *call,
                          uint8_t *dropped, bool cached_only, struct tfd_lmdb_error *error)
{
    struct iovec vectors[MOST_VECTORS];
    int count = 0;
    uint64_t end = call->offset;
    for (size_t i = 0; i < call->count; i++) {
        const struct tfd_lmdb_piece *piece = &call->pieces[i];
        uint64_t gap = piece->offset - end - (piece->head ? TFD_LMDB_HEAD_BYTES : 0);
        if (gap)
            vectors[count++] = (struct iovec){dropped, gap};
        if (piece->head)
            vectors[count++] = (struct iovec){piece->head, TFD_LMDB_HEAD_BYTES};
        vectors[count++] = (struct iovec){piece->to, piece->size};
        end = piece->offset + piece->size;
    }
    return read_vectors(work->fd, vectors, count, call->offset, call->size, cached_only, error);
}

static void copy_to_places(const struct tfd_lmdb_call *call, const uint8_t *bytes)
{
    for (size_t i = 0; i < call->count; i++) {
        const struct tfd_lmdb_piece *piece = &call->pieces[i];
        const uint8_t *from = bytes + (piece->offset - call->offset);
        if (piece->head)
            memcpy(piece->head, from - TFD_LMDB_HEAD_BYTES, TFD_LMDB_HEAD_BYTES);
        if (piece->to)
            memcpy(piece->to, from, piece->size);
    }
}

static int read_and_copy(const struct tfd_lmdb_work *work, const struct tfd_lmdb_call *call, uint8_t *copied,
                         bool cached_only, struct tfd_lmdb_error *error)
{
    bool direct = work->direct_fd >= 0;
    uint64_t before = direct ? call->offset % ALIGNMENT : 0;
    uint64_t asked = direct ? aligned_up(before + call->size) : call->size;
    struct iovec vector = {copied, asked};
    int result = read_vectors(direct ? work->direct_fd : work->fd, &vector, 1, call->offset - before,
                              before + call->size, cached_only, error);
    if (direct && result < 0 && error->number == EINVAL) {
        /* The file system refuses direct reads, or refuses one after a short read. */
        vector = (struct iovec){copied, asked};
        result = read_vectors(work->fd, &vector, 1, call->offset - before, before + call->size, false, error);
    }
    if (result == TFD_LMDB_DONE)
        copy_to_places(call, copied + before);
    return result;
}

int tfd_lmdb_read_call(const struct tfd_lmdb_work *work, const struct tfd_lmdb_call *call,
                       const struct tfd_lmdb_buffers *buffers, bool cached_only, struct tfd_lmdb_error *error)
{
    return work->copied ? read_and_copy(work, call, buffers->copied, cached_only, error)
                        : read_to_places(work, call, buffers->dropped, cached_only, error);
}
