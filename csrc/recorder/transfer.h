/* Reads and writes on a descriptor: the hot path, with emit.h.
 *
 * No system call while the descriptor is known; everything else is in
 * transfer.c and keeps errno. */
#ifndef TFD_TRANSFER_H
#define TFD_TRANSFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/clock.h"
#include "recorder/darshan_passage.h"
#include "recorder/descriptor_table.h"
#include "recorder/emit.h"

void tfd_record_slowly(struct tfd_slot *slot, int fd, struct tfd_event event, bool implicit_offset,
                       bool failed);

/* Return the offset of a write that a stream appends, and move its position behind it. `unwritten` bytes are in the
 * stream's buffer after the write, -1: that is not known. */
int64_t tfd_appended_by_stream(struct tfd_position *position, int fd, int64_t unwritten, int64_t bytes);

/* Return the offset of a write that the kernel appended to the file, whatever offset the call had. */
int64_t tfd_appended_at(struct tfd_position *position, int fd, bool implicit_offset, int64_t bytes);

/* Return the descriptor's word in this session. It is looked up through /proc at its first use; then `*resolved`. */
uint64_t tfd_known_word(struct tfd_slot *slot, int fd, bool *resolved);

static inline uint8_t tfd_alignment_flag(const void *buffer)
{
    return (uintptr_t)buffer % TFD_MEM_ALIGNMENT ? TFD_FLAG_MEM_UNALIGNED : 0;
}

static inline bool tfd_appends(struct tfd_position *position, uint8_t flags)
{
    return !(flags & TFD_FLAG_IN_PLACE) &&
           ((flags & TFD_FLAG_APPEND) || atomic_load_explicit(&position->appends, memory_order_relaxed));
}

/* Record a transfer of `result` bytes at `offset`, or at the descriptor's own position if `implicit_offset`. Then
 * `offset` has a stream's unwritten bytes, if this writes to one. */
static inline TFD_HOT void tfd_record_transfer(enum tfd_operation operation, bool writes, int fd,
                                               bool implicit_offset, int64_t offset, ssize_t result,
                                               uint8_t flags, uint64_t start)
{
    uint64_t end = tfd_end_ticks(start);
    int64_t bytes = result > 0 ? result : 0;
    struct tfd_slot *slot = tfd_enter(writes ? 0 : bytes, writes ? bytes : 0);
    if (!slot)
        return;
    struct tfd_event event = {start, end, offset, bytes, 0, (uint8_t)operation, flags, 0};
    if (tfd_unseen_by_darshan(start))
        event.flags |= TFD_FLAG_UNSEEN;
    struct tfd_descriptor *descriptor = tfd_descriptor_at(fd);
    uint64_t word = descriptor ? atomic_load_explicit(&descriptor->word, memory_order_acquire) : 0;
    if (TFD_LIKELY(result >= 0 && tfd_word_is_file(word, slot->generation))) {
        event.file = (uint32_t)word;
        struct tfd_position *position = tfd_position_of(descriptor);
        if (writes && tfd_appends(position, flags))
            event.offset = operation == TFD_OP_FWRITE ? tfd_appended_by_stream(position, fd, offset, bytes)
                                                      : tfd_appended_at(position, fd, implicit_offset, bytes);
        else if (implicit_offset)
            event.offset = atomic_fetch_add_explicit(&position->offset, bytes, memory_order_relaxed);
        tfd_emit(slot, &event);
    } else {
        tfd_record_slowly(slot, fd, event, implicit_offset, result < 0);
    }
    tfd_leave(slot);
}

#endif
