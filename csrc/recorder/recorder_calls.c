#define _GNU_SOURCE
#include "recorder/recorder_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recorder/mount_table.h"
#include "recorder/path_table.h"
#include "recorder/recording.h"
#include "recorder/rings.h"
#include "recorder/transfer.h"

static uint8_t seen_flag(uint64_t start)
{
    return tfd_unseen_by_darshan(start) ? TFD_FLAG_UNSEEN : 0;
}

/* Return the descriptor's position, NULL if it is not a file or was not looked up yet. */
static struct tfd_position *current_position(const struct tfd_slot *slot, int fd)
{
    struct tfd_descriptor *descriptor = tfd_descriptor_at(fd);
    if (!descriptor || !tfd_word_is_file(atomic_load(&descriptor->word), slot->generation))
        return NULL;
    return tfd_position_of(descriptor);
}

void tfd_record_status_flags(int fd, int flags)
{
    struct tfd_slot *slot = tfd_enter(0, 0);
    if (!slot)
        return;
    struct tfd_position *position = current_position(slot, fd);
    if (position)
        atomic_store(&position->appends, (flags & O_APPEND) != 0);
    tfd_leave(slot);
}

void tfd_record_position(int fd, int64_t offset)
{
    struct tfd_slot *slot = tfd_enter(0, 0);
    if (!slot)
        return;
    struct tfd_position *position = current_position(slot, fd);
    if (position)
        atomic_store(&position->offset, offset);
    tfd_leave(slot);
}

void tfd_record_given_back(int fd, int64_t bytes)
{
    struct tfd_slot *slot = tfd_enter(0, 0);
    if (!slot)
        return;
    struct tfd_position *position = current_position(slot, fd);
    if (position)
        atomic_fetch_sub(&position->offset, bytes);
    tfd_leave(slot);
}

void tfd_record_descriptor(enum tfd_operation operation, int fd, int64_t offset, int64_t length, bool failed,
                           uint64_t start)
{
    uint64_t end = tfd_end_ticks(start);
    struct tfd_slot *slot = tfd_enter(0, 0);
    if (!slot)
        return;
    struct tfd_event event = {start, end, offset, length, 0, (uint8_t)operation, seen_flag(start), 0};
    tfd_record_slowly(slot, fd, event, false, failed);
    tfd_leave(slot);
}

void tfd_record_other_user(void)
{
    struct tfd_slot *slot = tfd_enter(0, 0);
    if (!slot)
        return;
    atomic_fetch_add(&tfd_session.spool.header->other_user_programs, 1);
    tfd_leave(slot);
}

void tfd_record_bypass(enum tfd_bypass bypass)
{
    struct tfd_slot *slot = tfd_enter(0, 0);
    if (!slot)
        return;
    atomic_fetch_or(&tfd_session.spool.header->bypasses, (uint64_t)bypass);
    if (bypass == TFD_BYPASS_IO_URING)
        tfd_rings_note_use();
    tfd_leave(slot);
}

void tfd_record_seek(enum tfd_operation operation, int fd, int64_t position, uint64_t start)
{
    uint64_t end = tfd_end_ticks(start);
    struct tfd_slot *slot = tfd_enter(0, 0);
    if (!slot)
        return;
    struct tfd_event event = {start, end, position, 0, 0, (uint8_t)operation, seen_flag(start), 0};
    struct tfd_descriptor *descriptor = tfd_descriptor_at(fd);
    tfd_record_slowly(slot, fd, event, false, position < 0);
    if (position >= 0 && descriptor && tfd_word_is_file(atomic_load(&descriptor->word), slot->generation))
        atomic_store_explicit(&tfd_position_of(descriptor)->offset, position, memory_order_relaxed);
    tfd_leave(slot);
}

/* Return the path of a call, NULL if it failed with EFAULT: the pointer must not be followed. */
static const char *readable_path(const char *path, bool failed, int error)
{
    return failed && error == EFAULT ? NULL : path;
}

static tfd_target path_target(int dirfd, const char *path)
{
    int cancel_state = tfd_tables_lock_take();
    tfd_target target = tfd_path_target(&tfd_session.spool, dirfd, path);
    tfd_tables_lock_give(cancel_state);
    return target;
}

/* A file of O_TMPFILE has no name: the path is that of its directory. */
static tfd_target opened_target(int dirfd, const char *path, int fd, int open_flags)
{
    if (fd < 0 || (open_flags & O_TMPFILE) != O_TMPFILE)
        return path_target(dirfd, path);
    int64_t offset;
    int cancel_state = tfd_tables_lock_take();
    tfd_target target = tfd_descriptor_target(&tfd_session.spool, fd, &offset);
    tfd_tables_lock_give(cancel_state);
    return target;
}

/* The C library begins at the end in a stream that appends and does not read. */
static void adopt_descriptor(struct tfd_slot *slot, int fd, tfd_target target, int open_flags, bool is_stream)
{
    struct tfd_spool *spool = &tfd_session.spool;
    struct stat status;
    bool appends = open_flags & O_APPEND;
    bool at_end = is_stream && appends && (open_flags & O_ACCMODE) == O_WRONLY;
    int64_t offset = at_end && !fstat(fd, &status) ? status.st_size : 0;
    if (!(target & TFD_OTHER_BIT) && target >= TFD_FIRST_FILE)
        tfd_mount_learn_block_size(spool, tfd_file_at(spool, target)->mount, fd);
    int cancel_state = tfd_tables_lock_take();
    tfd_descriptor_set(fd, slot->generation, target, offset, appends);
    tfd_tables_lock_give(cancel_state);
}

/* Return the target of a path that is opened again and again, without looking it up each time. */
static tfd_target kept_target(const struct tfd_slot *slot, const char *path, _Atomic uint64_t *kept)
{
    uint64_t word = atomic_load_explicit(kept, memory_order_relaxed);
    if (tfd_word_is_current(word, slot->generation))
        return (tfd_target)word;
    tfd_target target = path_target(AT_FDCWD, path);
    if (target != TFD_FILE_OVERFLOW)
        atomic_store_explicit(kept, tfd_word(slot->generation, target), memory_order_relaxed);
    return target;
}

static inline TFD_HOT void record_open(enum tfd_operation operation, int dirfd, const char *path,
                                       _Atomic uint64_t *kept, int fd, int open_flags, unsigned mode,
                                       uint64_t start)
{
    uint64_t end = tfd_end_ticks(start);
    int saved_errno = errno;
    struct tfd_slot *slot = tfd_enter(0, 0);
    if (!slot)
        return;
    if (tfd_stop_was_requested()) {
        tfd_abandon();
        tfd_leave(slot);
        return;
    }
    uint8_t flags = ((open_flags & O_ACCMODE) != O_RDONLY ? TFD_FLAG_WRITABLE : 0) |
                    (open_flags & O_TRUNC ? TFD_FLAG_TRUNCATE : 0) |
                    (open_flags & O_APPEND ? TFD_FLAG_APPEND : 0) | seen_flag(start);
    struct tfd_event event = {start, end, mode, 0, 0, (uint8_t)operation, flags, 0};
    tfd_target target = kept ? kept_target(slot, path, kept)
                             : opened_target(dirfd, readable_path(path, fd < 0, saved_errno), fd, open_flags);
    if (fd < 0)
        event.error = (uint16_t)saved_errno;
    else
        adopt_descriptor(slot, fd, target, open_flags, operation == TFD_OP_FOPEN);
    tfd_emit_or_count(slot, target, &event);
    tfd_leave(slot);
    errno = saved_errno;
}

void tfd_record_open(enum tfd_operation operation, int dirfd, const char *path, int fd, int open_flags,
                     unsigned mode, uint64_t start)
{
    record_open(operation, dirfd, path, NULL, fd, open_flags, mode, start);
}

void tfd_record_open_again(enum tfd_operation operation, const char *path, _Atomic uint64_t *kept, int fd,
                           int open_flags, uint64_t start)
{
    record_open(operation, AT_FDCWD, path, kept, fd, open_flags, 0, start);
}

void tfd_record_path(enum tfd_operation operation, int dirfd, const char *path, int64_t length, bool failed,
                     uint64_t start)
{
    uint64_t end = tfd_end_ticks(start);
    int saved_errno = errno;
    struct tfd_slot *slot = tfd_enter(0, 0);
    if (!slot)
        return;
    struct tfd_event event = {start, end, -1, failed ? 0 : length, 0, (uint8_t)operation, seen_flag(start),
                              0};
    event.error = failed ? (uint16_t)saved_errno : 0;
    tfd_emit_or_count(slot, path_target(dirfd, readable_path(path, failed, saved_errno)), &event);
    tfd_leave(slot);
    errno = saved_errno;
}

/* If the filter leaves out one of both paths, the rename is a call on the other one. */
void tfd_record_rename(int old_dirfd, const char *old_path, int new_dirfd, const char *new_path,
                       bool exchanges, bool failed, uint64_t start)
{
    uint64_t end = tfd_end_ticks(start);
    int saved_errno = errno;
    struct tfd_slot *slot = tfd_enter(0, 0);
    if (!slot)
        return;
    tfd_target source = path_target(old_dirfd, readable_path(old_path, failed, saved_errno));
    tfd_target target = path_target(new_dirfd, readable_path(new_path, failed, saved_errno));
    struct tfd_event event = {start, end, 0, 0, 0, TFD_OP_RENAME, seen_flag(start), 0};
    event.offset = target & TFD_OTHER_BIT ? TFD_FILE_NONE : target;
    event.flags |= exchanges ? TFD_FLAG_EXCHANGE : 0;
    event.error = failed ? (uint16_t)saved_errno : 0;
    tfd_emit_or_count(slot, source, &event);
    tfd_leave(slot);
    errno = saved_errno;
}

void tfd_record_dup(int old_fd, int new_fd, uint64_t start)
{
    uint64_t end = tfd_end_ticks(start);
    int saved_errno = errno;
    struct tfd_slot *slot = tfd_enter(0, 0);
    if (!slot)
        return;
    struct tfd_event event = {start, end, -1, 0, 0, TFD_OP_DUP, seen_flag(start), 0};
    if (new_fd >= 0) {
        bool resolved;
        tfd_known_word(slot, old_fd, &resolved);
        int cancel_state = tfd_tables_lock_take();
        tfd_descriptor_share(old_fd, new_fd, slot->generation);
        tfd_tables_lock_give(cancel_state);
    }
    errno = saved_errno;
    tfd_record_slowly(slot, old_fd, event, false, new_fd < 0);
    tfd_leave(slot);
}

/* The kernel copied bytes between descriptors: a read of the one and a write of the other. */
void tfd_record_copy(int in_fd, int64_t in_offset, int out_fd, int64_t out_offset, ssize_t bytes,
                     uint64_t start)
{
    uint64_t end = tfd_end_ticks(start);
    int64_t moved = bytes > 0 ? bytes : 0;
    struct tfd_slot *slot = tfd_enter(moved, moved);
    if (!slot)
        return;
    struct tfd_event from = {start, end, in_offset, moved, 0, TFD_OP_COPY_READ, 0, 0};
    struct tfd_event to = {start, end, out_offset, moved, 0, TFD_OP_COPY_WRITE, 0, 0};
    from.flags = to.flags = seen_flag(start);
    tfd_record_slowly(slot, in_fd, from, in_offset < 0, bytes < 0);
    tfd_record_slowly(slot, out_fd, to, out_offset < 0, bytes < 0);
    tfd_leave(slot);
}

/* Return true in a signal handler that came while its thread was recording. The
 * thread may hold the lock, so entries are dropped without it. */
static bool is_nested(void)
{
    const struct tfd_slot *slot = tfd_own_slot;
    return slot && atomic_load_explicit(&slot->busy, memory_order_relaxed);
}

uint64_t tfd_forget(int fd)
{
    if (is_nested()) {
        tfd_descriptor_drop_range((unsigned)fd, (unsigned)fd);
        return 0;
    }
    int saved_errno = errno;
    struct tfd_slot *slot = tfd_enter(0, 0);
    uint64_t word = 0;
    if (!slot)
        return 0;
    if (tfd_descriptor_at(fd)) {
        bool resolved;
        word = tfd_known_word(slot, fd, &resolved);
        int cancel_state = tfd_tables_lock_take();
        tfd_descriptor_forget(fd, slot->generation);
        tfd_tables_lock_give(cancel_state);
    }
    tfd_leave(slot);
    errno = saved_errno;
    return word;
}

void tfd_forget_range(unsigned first, unsigned last)
{
    if (is_nested()) {
        tfd_descriptor_drop_range(first, last);
        return;
    }
    struct tfd_slot *slot = tfd_enter(0, 0);
    if (!slot)
        return;
    int cancel_state = tfd_tables_lock_take();
    tfd_descriptor_forget_range(first, last, slot->generation);
    tfd_tables_lock_give(cancel_state);
    tfd_leave(slot);
}

void tfd_record_close(enum tfd_operation operation, uint64_t word, bool failed, uint64_t start)
{
    uint64_t end = tfd_ticks();
    uint8_t flags = seen_flag(start);
    /* Darshan was told of the close before it is made */
    start = tfd_darshan_recorded > start ? tfd_darshan_recorded : start;
    int saved_errno = errno;
    struct tfd_slot *slot = tfd_enter(0, 0);
    if (!slot)
        return;
    struct tfd_event event = {
        start, end, -1, 0, 0, (uint8_t)operation, flags, failed ? (uint16_t)saved_errno : 0};
    if (tfd_word_is_current(word, slot->generation))
        tfd_emit_or_count(slot, (tfd_target)word, &event);
    tfd_leave(slot);
    errno = saved_errno;
}

uint64_t tfd_word_of_descriptor(int fd)
{
    int saved_errno = errno;
    struct tfd_slot *slot = fd < 0 ? NULL : tfd_enter(0, 0);
    if (!slot)
        return 0;
    bool resolved;
    uint64_t word = tfd_known_word(slot, fd, &resolved);
    tfd_leave(slot);
    errno = saved_errno;
    return word;
}

uint32_t tfd_file_of_descriptor(int fd)
{
    uint64_t word = tfd_word_of_descriptor(fd);
    return word & TFD_OTHER_BIT ? TFD_FILE_NONE : (uint32_t)word;
}

static struct tfd_position *position_of_request(const struct tfd_async_request *request)
{
    struct tfd_descriptor *descriptor = tfd_descriptor_at(request->fd);
    bool same =
        descriptor && !(request->word & TFD_OTHER_BIT) && atomic_load(&descriptor->word) == request->word;
    return same ? tfd_position_of(descriptor) : NULL;
}

/* The C library serves the requests on a descriptor one after the other. */
void tfd_request_appends(struct tfd_async_request *request)
{
    struct tfd_position *position = position_of_request(request);
    struct stat status;
    int saved_errno = errno;
    if (position && tfd_appends(position, 0) && !fstat(request->fd, &status)) {
        int64_t last = atomic_load(&position->requested_end), end;
        do {
            request->offset = last > status.st_size ? last : status.st_size;
            end = request->offset + request->asked;
        } while (!atomic_compare_exchange_weak(&position->requested_end, &last, end));
    }
    errno = saved_errno;
}

/* After the last request under way, the next one begins at the file's end again. */
static void end_append(const struct tfd_async_request *request)
{
    struct tfd_position *position = position_of_request(request);
    int64_t end = request->offset + request->asked;
    if (position && request->operation == TFD_OP_PWRITE)
        atomic_compare_exchange_strong(&position->requested_end, &end, 0);
}

void tfd_record_request(const struct tfd_async_request *request, uint64_t end, ssize_t moved, int error)
{
    int saved_errno = errno;
    int64_t bytes = moved > 0 ? moved : 0;
    bool reads = request->operation == TFD_OP_PREAD;
    struct tfd_slot *slot = tfd_enter(reads ? bytes : 0, reads ? 0 : bytes);
    if (!slot)
        return;
    struct tfd_event event = {
        request->start, end, error ? -1 : request->offset, bytes, 0, (uint8_t)request->operation, 0,
        (uint16_t)error};
    event.flags = tfd_darshan_attached ? TFD_FLAG_UNSEEN : 0;
    if (tfd_word_is_current(request->word, slot->generation)) {
        end_append(request);
        tfd_emit_or_count(slot, (tfd_target)request->word, &event);
    }
    tfd_leave(slot);
    errno = saved_errno;
}

bool tfd_descriptor_is_file(int fd)
{
    return tfd_file_of_descriptor(fd) != TFD_FILE_NONE;
}
