/* Records calls that are rarer or slower than transfers: open, close, stat and others. */
#ifndef TFD_RECORDER_CALLS_H
#define TFD_RECORDER_CALLS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "recorder/pending_requests.h"
#include "spool/spool.h"

/* If a call `failed`, its error is errno. */
void tfd_record_open(enum tfd_operation operation, int dirfd, const char *path, int fd, int open_flags,
                     unsigned mode, uint64_t start);
/* The same for an absolute path that is opened again and again. `kept`, at first 0, remembers the file. */
void tfd_record_open_again(enum tfd_operation operation, const char *path, _Atomic uint64_t *kept, int fd,
                           int open_flags, uint64_t start);
void tfd_record_path(enum tfd_operation operation, int dirfd, const char *path, int64_t length, bool failed,
                     uint64_t start);
void tfd_record_descriptor(enum tfd_operation operation, int fd, int64_t offset, int64_t length, bool failed,
                           uint64_t start);
void tfd_record_rename(int old_dirfd, const char *old_path, int new_dirfd, const char *new_path,
                       bool exchanges, bool failed, uint64_t start);
/* Count a program that is started as another user than the session's, which may not record itself. */
void tfd_record_other_user(void);
/* Note that a call has opened a way to read and write unrecorded. */
void tfd_record_bypass(enum tfd_bypass bypass);
void tfd_record_dup(int old_fd, int new_fd, uint64_t start);
/* fcntl(F_SETFL) sets or clears O_APPEND. */
void tfd_record_status_flags(int fd, int flags);
/* The next read or write of a stream begins there. */
void tfd_record_position(int fd, int64_t offset);
/* A character was pushed back to a stream, so the next read begins `bytes` earlier. */
void tfd_record_given_back(int fd, int64_t bytes);
void tfd_record_seek(enum tfd_operation operation, int fd, int64_t position, uint64_t start);
void tfd_record_copy(int in_fd, int64_t in_offset, int out_fd, int64_t out_offset, ssize_t bytes,
                     uint64_t start);

/* Return the descriptor's current meaning for tfd_record_request(), 0 if nothing is recorded. */
uint64_t tfd_word_of_descriptor(int fd);
/* If the descriptor appends, set the offset of a write request: the file's end, after the requests under way. */
void tfd_request_appends(struct tfd_async_request *request);
/* Record a request that ended by `end`, with the bytes that it moved or its error. */
void tfd_record_request(const struct tfd_async_request *request, uint64_t end, ssize_t moved, int error);

/* Forget a descriptor, and return what it meant. Call this before the call that
 * frees the number, since another thread may get the number at once. */
uint64_t tfd_forget(int fd);
void tfd_forget_range(unsigned first, unsigned last);
void tfd_record_close(enum tfd_operation operation, uint64_t word, bool failed, uint64_t start);
/* Return true if calls on the descriptor become events. Looks up an unknown descriptor. */
bool tfd_descriptor_is_file(int fd);
/* Return the descriptor's file in the spool, TFD_FILE_NONE if it is not a recorded file or nothing is recorded. */
uint32_t tfd_file_of_descriptor(int fd);

#endif
