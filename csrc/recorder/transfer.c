/* Where the hot path of transfers ends: at a descriptor that is not known, a call that failed, and a write that
 * appends. */
#define _GNU_SOURCE
#include "recorder/transfer.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recorder/path_table.h"
#include "recorder/recording.h"

/* Caller holds tfd_tables_lock. */
static tfd_target look_up(int fd, uint32_t generation)
{
    int64_t offset = 0;
    tfd_target target = tfd_descriptor_target(&tfd_session.spool, fd, &offset);
    if (target != (TFD_OTHER_BIT | TFD_OTHER_UNKNOWN))
        tfd_descriptor_set(fd, generation, target, offset, fcntl(fd, F_GETFL) & O_APPEND);
    return target;
}

/* Several threads may come with a descriptor's first use: the second one finds what the first one has set. */
uint64_t tfd_known_word(struct tfd_slot *slot, int fd, bool *resolved)
{
    struct tfd_descriptor *descriptor = tfd_descriptor_at(fd);
    uint32_t generation = slot->generation;
    uint64_t word = descriptor ? atomic_load(&descriptor->word) : 0;
    *resolved = false;
    if (!descriptor)
        return tfd_word(generation, TFD_OTHER_BIT | TFD_OTHER_UNKNOWN);
    if (tfd_word_is_current(word, generation))
        return word;
    int cancel_state = tfd_tables_lock_take();
    word = atomic_load(&descriptor->word);
    if (!tfd_word_is_current(word, generation)) {
        tfd_target target = look_up(fd, generation);
        word = tfd_word(generation, target);
        *resolved = !(target & TFD_OTHER_BIT);
    }
    tfd_tables_lock_give(cancel_state);
    return word;
}

/* The kernel moved the position to the end of what it wrote. Only where that is not where ours is did somebody else
 * append: threads that write at the same time have each their own place by ours. */
static int64_t appended_at_position(struct tfd_position *position, int fd, int64_t bytes)
{
    int64_t start = atomic_fetch_add(&position->offset, bytes), end = lseek(fd, 0, SEEK_CUR);
    if (end < bytes || end == atomic_load(&position->offset))
        return start;
    atomic_store(&position->offset, end);
    return end - bytes;
}

/* pwrite() leaves the position alone, and its offset does not count. */
static int64_t appended_at_end(int fd, int64_t bytes)
{
    struct stat status;
    return fstat(fd, &status) || status.st_size < bytes ? -1 : status.st_size - bytes;
}

int64_t tfd_appended_at(struct tfd_position *position, int fd, bool implicit_offset, int64_t bytes)
{
    int saved_errno = errno;
    int64_t start = implicit_offset ? appended_at_position(position, fd, bytes) : appended_at_end(fd, bytes);
    errno = saved_errno;
    return start;
}

/* The kernel appends what is in a stream's buffer when that is emptied. So a write that began in an empty buffer, or
 * emptied it, is placed by the file's end, and others follow the one before. */
int64_t tfd_appended_by_stream(struct tfd_position *position, int fd, int64_t unwritten, int64_t bytes)
{
    struct stat status;
    int saved_errno = errno;
    int64_t start = -1;
    if (0 <= unwritten && unwritten <= bytes && !syscall(SYS_fstat, fd, &status))
        start = status.st_size + unwritten - bytes;
    errno = saved_errno;
    if (start < 0)
        return atomic_fetch_add(&position->offset, bytes);
    atomic_store(&position->offset, start + bytes);
    return start;
}

static bool is_positional_write(uint8_t operation)
{
    return operation == TFD_OP_PWRITE || operation == TFD_OP_PWRITEV;
}

static int64_t offset_of(const struct tfd_event *event, struct tfd_position *position, int fd,
                         bool implicit_offset, bool resolved)
{
    bool appends = tfd_appends(position, event->flags);
    if (event->operation == TFD_OP_FWRITE && appends)
        return tfd_appended_by_stream(position, fd, event->offset, event->length);
    if (is_positional_write(event->operation) && appends)
        return tfd_appended_at(position, fd, false, event->length);
    if (!implicit_offset)
        return event->offset;
    /* looked up only now, the position is already behind this transfer */
    int64_t offset = resolved ? atomic_load(&position->offset) - event->length
                              : atomic_fetch_add(&position->offset, event->length);
    return offset < 0 ? 0 : offset;
}

void tfd_record_slowly(struct tfd_slot *slot, int fd, struct tfd_event event, bool implicit_offset,
                       bool failed)
{
    int saved_errno = errno;
    bool resolved;
    uint64_t word = tfd_known_word(slot, fd, &resolved);
    if (failed) {
        event.error = (uint16_t)saved_errno;
        event.offset = -1;
    } else if (!(word & TFD_OTHER_BIT)) {
        struct tfd_position *position = tfd_position_of(tfd_descriptor_at(fd));
        event.offset = offset_of(&event, position, fd, implicit_offset, resolved);
    }
    /* a call on a number that is not open belongs to no file */
    if (failed && saved_errno == EBADF)
        word = TFD_FILE_NONE;
    tfd_emit_or_count(slot, (tfd_target)word, &event);
    errno = saved_errno;
}
