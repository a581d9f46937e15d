/* The hot path: one event per call into the calling thread's own chunk.
 *
 * No lock, no allocation and no system call while the descriptor is known and
 * the chunk has room; everything else is in recorder.c and keeps errno.
 *
 * A thread marks itself busy while it writes. That lets stop() wait until
 * nobody writes before it unmaps the spool, and a signal handler that
 * interrupts the writing sees it and stays away. */
#ifndef TFD_RECORDER_H
#define TFD_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/clock.h"
#include "recorder/darshan_passage.h"
#include "recorder/descriptor_table.h"
#include "recorder/other_traffic.h"
#include "recorder/pending_requests.h"
#include "recorder/session.h"
#include "recorder/slots.h"

struct tfd_slot *tfd_set_up(struct tfd_slot *slot);
/* The current chunk is full: appends to another, or to the shared one. By
 * value, as in tfd_record_slowly: the caller's event can stay in registers. */
void tfd_emit_slowly(struct tfd_slot *slot, struct tfd_event event);
void tfd_record_slowly(struct tfd_slot *slot, int fd, struct tfd_event event, bool implicit_offset,
                       bool failed);

/* Where a write began that the kernel put at the end of the file, whatever offset it was given. */
int64_t tfd_appended_at(struct tfd_position *position, int fd, bool implicit_offset, int64_t bytes);

/* For what every call of a hot symbol passes: a copy in each of its wrappers. */
#define TFD_HOT __attribute__((always_inline))
#define TFD_LIKELY(condition) __builtin_expect(!!(condition), 1)

/* NULL: not recording. Else the slot, busy until tfd_leave. The byte counts
 * are what would be lost if this call interrupted the recorder itself. */
static inline struct tfd_slot *tfd_enter(int64_t bytes_read, int64_t bytes_written)
{
    struct tfd_slot *slot = tfd_own_slot;
    if (!TFD_LIKELY(slot) && !(slot = tfd_find_slot()))
        return NULL;
    if (!TFD_LIKELY(!atomic_load_explicit(&slot->busy, memory_order_relaxed))) {
        tfd_count_nested(slot, bytes_read, bytes_written);
        return NULL;
    }
    atomic_store_explicit(&slot->busy, 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst); /* stop() supplies the other half, see quiesce() */
    if (!TFD_LIKELY(atomic_load_explicit(&slot->generation, memory_order_relaxed) ==
                    atomic_load_explicit(&tfd_shared->generation, memory_order_relaxed)))
        return tfd_set_up(slot);
    return slot;
}

static inline void tfd_leave(struct tfd_slot *slot)
{
    atomic_store_explicit(&slot->owed, 0, memory_order_release);
    atomic_store_explicit(&slot->busy, 0, memory_order_release);
}

static inline TFD_HOT void tfd_emit(struct tfd_slot *slot, const struct tfd_event *event)
{
    if (!TFD_LIKELY(tfd_chunk_append(slot->chunk, event)))
        tfd_emit_slowly(slot, *event);
}

static inline uint8_t tfd_alignment_flag(const void *buffer)
{
    return (uintptr_t)buffer % TFD_MEM_ALIGNMENT ? TFD_FLAG_MEM_UNALIGNED : 0;
}

static inline bool tfd_appends(struct tfd_position *position, uint8_t flags)
{
    return (flags & TFD_FLAG_APPEND) || atomic_load_explicit(&position->appends, memory_order_relaxed);
}

/* A transfer of `result` bytes at `offset`; at the descriptor's own position where `implicit_offset`. */
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
        if (writes && operation != TFD_OP_FWRITE && tfd_appends(tfd_position_of(descriptor), flags))
            event.offset = tfd_appended_at(tfd_position_of(descriptor), fd, implicit_offset, bytes);
        else if (implicit_offset)
            event.offset =
                atomic_fetch_add_explicit(&tfd_position_of(descriptor)->offset, bytes, memory_order_relaxed);
        tfd_emit(slot, &event);
    } else {
        tfd_record_slowly(slot, fd, event, implicit_offset, result < 0);
    }
    tfd_leave(slot);
}

/* Calls that are rarer or slower: open, close, stat and their like (recorder_calls.c). `failed` takes errno. */
void tfd_record_open(enum tfd_operation operation, int dirfd, const char *path, int fd, int open_flags,
                     unsigned mode, uint64_t start);
/* The same for an absolute path that will be opened again; `kept`, at first 0, keeps which file that is. */
void tfd_record_open_again(enum tfd_operation operation, const char *path, _Atomic uint64_t *kept, int fd,
                           int open_flags, uint64_t start);
void tfd_record_path(enum tfd_operation operation, int dirfd, const char *path, int64_t length, bool failed,
                     uint64_t start);
void tfd_record_descriptor(enum tfd_operation operation, int fd, int64_t offset, int64_t length, bool failed,
                           uint64_t start);
void tfd_record_rename(int old_dirfd, const char *old_path, int new_dirfd, const char *new_path, bool failed,
                       uint64_t start);
/* A program is started as another user than the session's: it may not record itself. */
void tfd_record_other_user(void);
void tfd_record_dup(int old_fd, int new_fd, uint64_t start);
/* fcntl(F_SETFL): writes append from now on, or do not any more. */
void tfd_record_status_flags(int fd, int flags);
/* A character was given back to a stream: the next read begins `bytes` earlier. */
void tfd_record_given_back(int fd, int64_t bytes);
void tfd_record_seek(enum tfd_operation operation, int fd, int64_t position, uint64_t start);
void tfd_record_copy(int in_fd, int64_t in_offset, int out_fd, int64_t out_offset, ssize_t bytes,
                     uint64_t start);

/* What a descriptor means now: for tfd_record_request. 0: nothing is recorded. */
uint64_t tfd_word_of_descriptor(int fd);
/* Of a request to write, sets its offset where the descriptor appends: at the file's end, behind those under way. */
void tfd_request_appends(struct tfd_async_request *request);
/* A request that ended by `end`, by what it moved or its error. */
void tfd_record_request(const struct tfd_async_request *request, uint64_t end, ssize_t moved, int error);

/* What a descriptor meant until now; forgets it. Called before the call that
 * frees the number: another thread may be given it at once. */
uint64_t tfd_forget(int fd);
void tfd_forget_range(unsigned first, unsigned last);
void tfd_record_close(enum tfd_operation operation, uint64_t word, bool failed, uint64_t start);
/* True if calls on the descriptor become events (a file, tracked). Resolves an unknown one. */
bool tfd_descriptor_is_file(int fd);
/* Which of the spool's files that is; TFD_FILE_NONE where it is none, or nothing is recorded. */
uint32_t tfd_file_of_descriptor(int fd);

#endif
