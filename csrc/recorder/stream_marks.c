#define _GNU_SOURCE
#include "recorder/stream_marks.h"

#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

#include "recorder/recorder_calls.h"
#include "recorder/transfer.h"

/* Of a stream that several threads use. */
static struct tfd_slot many;

/* 0 too where another buffer has come in the place of that of the mark. */
static ssize_t moved_from(const char *mark, const char *begin, const char *now, const char *end)
{
    return mark >= begin && mark < now && now <= end ? now - mark : 0;
}

/* Marks of an earlier session mean nothing. */
static bool is_tracked(int fd)
{
    uint32_t generation = atomic_load(&tfd_shared->generation);
    return tfd_own_slot && generation &&
           tfd_word_is_file(atomic_load(&tfd_descriptor_at(fd)->word), generation);
}

static void record(enum tfd_operation operation, bool writes, FILE *stream, ssize_t bytes)
{
    if (bytes)
        tfd_record_transfer(operation, writes, stream->_fileno, true,
                            writes ? tfd_stream_unwritten(stream) : -1, bytes, 0, tfd_ticks());
}

/* The pointers are looked at before the user: who else moves them says so first. */
void tfd_stream_count_moved(FILE *stream, struct tfd_position *position)
{
    ssize_t read = moved_from(atomic_load(&position->marks.read_at), stream->_IO_read_base,
                              stream->_IO_read_ptr, stream->_IO_read_end);
    ssize_t written = moved_from(atomic_load(&position->marks.write_at), stream->_IO_write_base,
                                 stream->_IO_write_ptr, stream->_IO_buf_end);
    atomic_thread_fence(memory_order_acquire);
    if (!tfd_stream_is_marked(stream, position) || !is_tracked(stream->_fileno))
        return;
    record(TFD_OP_FREAD, false, stream, read);
    record(TFD_OP_FWRITE, true, stream, written);
}

static void mark(FILE *stream, struct tfd_position *position)
{
    tfd_stream_mark(stream, position);
    atomic_store(&position->marks.stream, stream);
}

/* Look a descriptor up. The kernel's position is behind what a stream has read ahead, and before what it has yet to
 * write. */
static uint64_t look_up(const FILE *stream, int fd)
{
    int saved_errno = errno;
    struct tfd_slot *slot = tfd_enter(0, 0);
    if (!slot)
        return 0;
    bool resolved;
    uint64_t word = tfd_known_word(slot, fd, &resolved);
    int64_t unwritten = tfd_stream_unwritten(stream), unread = stream->_IO_read_end - stream->_IO_read_ptr;
    if (resolved && unwritten >= 0)
        atomic_fetch_add(&tfd_stream_position(fd)->offset, unwritten ? unwritten : -unread);
    tfd_leave(slot);
    errno = saved_errno;
    return word;
}

/* Looks an unknown descriptor up: what its position says is of an earlier session, or of another file. */
static bool is_file(const FILE *stream, int fd)
{
    const struct tfd_descriptor *descriptor = tfd_descriptor_at(fd);
    uint32_t generation = atomic_load(&tfd_shared->generation);
    if (!descriptor || !generation)
        return false;
    uint64_t word = atomic_load(&descriptor->word);
    if (!tfd_word_is_current(word, generation))
        word = look_up(stream, fd);
    return tfd_word_is_file(word, generation) && descriptor->place;
}

/* A call in a signal handler that came while its thread was recording, or in a child of vfork, is not recorded. */
void tfd_stream_announce(const FILE *stream, int fd)
{
    if (tfd_is_interrupted() || tfd_memory_is_lent() || !is_file(stream, fd))
        return;
    struct tfd_position *position = tfd_stream_position(fd);
    struct tfd_slot *slot = tfd_own_slot ? tfd_own_slot : tfd_find_slot(), *user = NULL;
    if (atomic_load(&position->marks.user) == &many)
        return;
    if (!atomic_compare_exchange_strong(&position->marks.user, &user, slot ? slot : &many) && user != slot)
        atomic_store(&position->marks.user, &many);
    /* Who sees the pointers moved sees this, too: see tfd_stream_count_moved. */
    atomic_thread_fence(memory_order_release);
}

/* A call with marks of an earlier session has announced nothing: its position became another one with the call. */
void tfd_stream_follow(FILE *stream, int fd, struct tfd_position *position)
{
    struct tfd_slot *user = NULL;
    if (tfd_is_interrupted() || tfd_memory_is_lent() || !is_tracked(fd))
        return;
    if (atomic_compare_exchange_strong(&position->marks.user, &user, tfd_own_slot) || user == tfd_own_slot)
        mark(stream, position);
}

/* A stream may have been closed by code that has no slot: its memory is asked for, not read. */
static bool is_open(FILE *stream, const struct tfd_position *position)
{
    FILE copy;
    struct iovec here = {&copy, sizeof copy}, there = {stream, sizeof copy};
    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == sizeof copy &&
           ((unsigned)copy._flags & 0xFFFF0000u) == 0xFBAD0000u &&
           tfd_stream_position(tfd_descriptor_of(&copy)) == position;
}

static void for_each_own(void (*visit)(FILE *stream, struct tfd_position *position))
{
    int saved_errno = errno;
    for (uint32_t place = 0; tfd_own_slot && place < tfd_positions_used(); place++) {
        struct tfd_position *position = tfd_position_in(place);
        FILE *stream = atomic_load(&position->marks.stream);
        if (stream && tfd_stream_is_marked(stream, position) && is_open(stream, position))
            visit(stream, position);
    }
    errno = saved_errno;
}

void tfd_streams_count_moved(void)
{
    for_each_own(tfd_stream_count_moved);
}

/* The C library writes what is left in buffers after this. */
__attribute__((destructor)) static void at_normal_exit(void)
{
    tfd_streams_count_moved();
}

void tfd_streams_mark(void)
{
    for_each_own(mark);
}
