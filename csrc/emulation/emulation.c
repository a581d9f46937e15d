#define _GNU_SOURCE
#include "emulation/emulation.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/path_room.h"
#include "base/shared_file.h"
#include "base/stream_descriptor.h"
#include "emulation/emulated_calls.h"
#include "emulation/emulated_paths.h"
#include "emulation/storage_queue.h"
#include "hooks/hook_table.h"
#include "hooks/function_types.h"
#include "recorder/descriptor_table.h"

/* State of a descriptor: UNKNOWN until its first use, OUTSIDE, or the number of an emulated file. */
enum { UNKNOWN, OUTSIDE, FIRST_FILE };
#define SHARED_NAME "storage"
#define FILE_NUMBERS 0xffffffu /* numbers that the device's head can hold */

static _Atomic uint32_t file_on[TFD_MAX_DESCRIPTORS];
static _Atomic int highest_used;
static bool configured, installed;
static void
    *next_of[TFD_HOOK_COUNT]; /* functions that those below call; kept after a session for late callers */

int tfd_emulate(const struct tfd_storage_model *model, const char *const *paths, size_t path_count)
{
    if (installed)
        return tfd_fail(EBUSY, "a session with emulated storage is recording in this process");
    configured = false;
    if (!model)
        return tfd_emulated_paths_set(NULL, 0);
    if (!model->concurrency || model->concurrency > TFD_STORAGE_PLACES)
        return tfd_fail(EINVAL, "a storage model serves 1 to %d calls at once", TFD_STORAGE_PLACES);
    int status = tfd_emulated_paths_set(paths, path_count);
    if (!status)
        status = tfd_storage_reset(model);
    configured = !status;
    return status;
}

int tfd_emulation_offer(const char *directory)
{
    if (!configured)
        return 0;
    int fd = tfd_shared_file_make(directory, SHARED_NAME, TFD_STORAGE_BYTES + tfd_emulated_paths_bytes());
    int status = fd < 0 ? fd : tfd_emulated_paths_write(fd, TFD_STORAGE_BYTES);
    if (!status)
        status = tfd_storage_share(fd);
    if (!status)
        status = tfd_shared_file_publish(directory, SHARED_NAME);
    if (fd >= 0)
        close(fd);
    if (status)
        tfd_shared_file_remove(directory, SHARED_NAME);
    return status ? tfd_fail(-status, "as_if cannot be carried over to started programs in %s: %s", directory,
                             strerror(-status))
                  : 0;
}

int tfd_emulation_join(const char *directory)
{
    size_t bytes;
    tfd_emulation_remove();
    int fd = tfd_shared_file_open(directory, SHARED_NAME, &bytes);
    if (fd == -ENOENT)
        return 0;
    if (fd < 0 || bytes < TFD_STORAGE_BYTES) {
        if (fd >= 0)
            close(fd);
        return tfd_fail(fd < 0 ? -fd : EIO, "the emulated storage in %s cannot be used", directory);
    }
    int status = tfd_emulated_paths_read(fd, TFD_STORAGE_BYTES, bytes - TFD_STORAGE_BYTES);
    if (!status)
        status = tfd_storage_join(fd);
    close(fd);
    configured = !status;
    return status;
}

void tfd_emulation_totals(struct tfd_emulation_totals *totals)
{
    tfd_storage_totals(totals);
}

static uint32_t new_file_number(void)
{
    return FIRST_FILE + tfd_storage_new_file() % (FILE_NUMBERS - FIRST_FILE);
}

static uint32_t look_up(int fd)
{
    char link[32], *path = tfd_path_room_take();
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, TFD_PATH_ROOM_BYTES - 1);
    bool emulated = false;
    if (length > 0 && path[0] == '/') {
        path[length] = 0;
        emulated = tfd_is_emulated_path(path, (size_t)length);
    }
    tfd_path_room_return(path);
    return emulated ? new_file_number() : OUTSIDE;
}

/* Return OUTSIDE or the number of an emulated file. Keeps errno. */
static uint32_t file_of(int fd)
{
    if (fd < 0 || fd >= TFD_MAX_DESCRIPTORS)
        return OUTSIDE;
    uint32_t file = atomic_load_explicit(&file_on[fd], memory_order_relaxed);
    if (file != UNKNOWN)
        return file;
    int saved_errno = errno;
    file = look_up(fd);
    errno = saved_errno;
    atomic_store_explicit(&file_on[fd], file, memory_order_relaxed);
    int highest = atomic_load_explicit(&highest_used, memory_order_relaxed);
    while (fd > highest && !atomic_compare_exchange_weak(&highest_used, &highest, fd))
        ;
    return file;
}

static void forget(int fd)
{
    if (fd >= 0 && fd < TFD_MAX_DESCRIPTORS)
        atomic_store_explicit(&file_on[fd], UNKNOWN, memory_order_relaxed);
}

static int64_t position_of(int fd)
{
    int saved_errno = errno;
    int64_t position = lseek(fd, 0, SEEK_CUR);
    errno = saved_errno;
    return position;
}

static void opened(int fd, uint64_t arrival_ns)
{
    if (fd < 0)
        return;
    forget(fd);
    if (file_of(fd) >= FIRST_FILE)
        tfd_storage_ask(TFD_ASK_OPEN, arrival_ns);
}

static void transferred(int fd, int64_t offset, ssize_t bytes, bool writes, uint64_t arrival_ns)
{
    uint32_t file = bytes >= 0 ? file_of(fd) : OUTSIDE;
    if (file < FIRST_FILE)
        return;
    if (!bytes) {
        if (!writes)
            tfd_storage_ask(TFD_ASK_END_OF_FILE, arrival_ns);
        return;
    }
    if (offset < 0) {
        int64_t position = position_of(fd);
        offset = position >= bytes ? position - bytes : -1;
    }
    struct tfd_request request = {arrival_ns, file, offset, (uint64_t)bytes, writes};
    tfd_storage_transfer(&request);
}

/* Return the position of a stream's descriptor, -1 if the file is not emulated. */
static int64_t stream_position(FILE *stream)
{
    int fd = tfd_descriptor_of(stream);
    return file_of(fd) >= FIRST_FILE ? position_of(fd) : -1;
}

static void streamed(FILE *stream, int64_t before, bool writes, uint64_t arrival_ns)
{
    if (before < 0)
        return;
    int fd = tfd_descriptor_of(stream);
    int64_t after = position_of(fd);
    if (after > before)
        transferred(fd, before, after - before, writes, arrival_ns);
}

static bool is_joined_emulated(int dirfd, const char *path, char *absolute)
{
    char link[32];
    snprintf(link, sizeof link, dirfd == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", dirfd);
    ssize_t length = readlink(link, absolute, TFD_PATH_ROOM_BYTES - 1);
    if (length <= 0 || absolute[0] != '/')
        return false;
    int rest = snprintf(absolute + length, TFD_PATH_ROOM_BYTES - (size_t)length, "/%s", path);
    return rest > 0 && (size_t)(length + rest) < TFD_PATH_ROOM_BYTES &&
           tfd_is_emulated_path(absolute, (size_t)(length + rest));
}

static bool is_emulated_below(int dirfd, const char *path)
{
    if (path[0] == '/')
        return tfd_is_emulated_path(path, strlen(path));
    char *room = tfd_path_room_take();
    bool emulated = is_joined_emulated(dirfd, path, room);
    tfd_path_room_return(room);
    return emulated;
}

static void looked_at(int dirfd, const char *path, uint64_t arrival_ns)
{
    int saved_errno = errno;
    bool emulated = path && is_emulated_below(dirfd, path);
    errno = saved_errno;
    if (emulated)
        tfd_storage_ask(TFD_ASK_STAT, arrival_ns);
}

/* Facts that are taken before a call. */
struct begun_call {
    uint64_t arrival_ns;
    int64_t offset; /* for streams the descriptor's position before the call; -1: not needed */
    const char *path;
    FILE *stream;
    int fd; /* or the folder that the path is relative to */
};

static struct begun_call begin(void)
{
    return (struct begun_call){.arrival_ns = tfd_storage_now()};
}

static struct begun_call begin_transfer(int fd, int64_t offset)
{
    return (struct begun_call){.arrival_ns = tfd_storage_now(), .fd = fd, .offset = offset};
}

static struct begun_call begin_stream_call(FILE *stream)
{
    struct begun_call call = {.arrival_ns = tfd_storage_now(), .stream = stream};
    call.offset = stream_position(stream);
    return call;
}

static struct begun_call begin_look(int dirfd, const char *path)
{
    return (struct begun_call){.arrival_ns = tfd_storage_now(), .fd = dirfd, .path = path};
}

static void end_open(const struct begun_call *call, intptr_t fd)
{
    opened((int)fd, call->arrival_ns);
}

static void end_stream_open(const struct begun_call *call, intptr_t stream)
{
    opened(tfd_descriptor_of((FILE *)stream), call->arrival_ns);
}

static void end_read(const struct begun_call *call, intptr_t bytes)
{
    transferred(call->fd, call->offset, bytes, false, call->arrival_ns);
}

static void end_write(const struct begun_call *call, intptr_t bytes)
{
    transferred(call->fd, call->offset, bytes, true, call->arrival_ns);
}

static void end_stream_read(const struct begun_call *call, intptr_t outcome)
{
    (void)outcome;
    streamed(call->stream, call->offset, false, call->arrival_ns);
}

static void end_stream_write(const struct begun_call *call, intptr_t outcome)
{
    (void)outcome;
    streamed(call->stream, call->offset, true, call->arrival_ns);
}

static void end_look(const struct begun_call *call, intptr_t status)
{
    if (!status)
        looked_at(call->fd, call->path, call->arrival_ns);
}

static void end_sync(const struct begun_call *call, intptr_t status)
{
    if (!status && file_of(call->fd) >= FIRST_FILE)
        tfd_storage_ask(TFD_ASK_SYNC, call->arrival_ns);
}

/* The functions differ in their types only, so a list makes them. */
#define OWN(symbol)
#define X(symbol, result, parameters, arguments, begun, end)                                                 \
    static result emulated_##symbol parameters                                                               \
    {                                                                                                        \
        struct begun_call call = begun;                                                                      \
        result returned = ((result(*) parameters)next_of[TFD_HOOK_##symbol])arguments;                       \
        end(&call, (intptr_t)returned);                                                                      \
        return returned;                                                                                     \
    }
TFD_EMULATED_CALLS
#undef X
#undef OWN

#define NEXT(symbol) ((tfd_##symbol##_function *)next_of[TFD_HOOK_##symbol])

/* The number is forgotten before the call, since another thread may get it at once. */
static int emulated_close(int fd)
{
    forget(fd);
    return NEXT(close)(fd);
}

static int emulated_dup2(int fd, int copy)
{
    if (fd != copy)
        forget(copy);
    return NEXT(dup2)(fd, copy);
}

static int emulated_dup3(int fd, int copy, int flags)
{
    if (fd != copy)
        forget(copy);
    return NEXT(dup3)(fd, copy, flags);
}

static void forget_range(unsigned first, unsigned last)
{
    unsigned highest = (unsigned)atomic_load(&highest_used);
    for (unsigned fd = first; fd <= last && fd <= highest; fd++)
        forget((int)fd);
}

static int emulated_close_range(unsigned first, unsigned last, int flags)
{
    forget_range(first, last);
    return NEXT(close_range)(first, last, flags);
}

static void emulated_closefrom(int first)
{
    forget_range(first < 0 ? 0 : (unsigned)first, UINT_MAX);
    NEXT(closefrom)(first);
}

/* This writes what is left in the buffer, since its size cannot be known after the close. */
static int emulated_fclose(FILE *stream)
{
    int fd = tfd_descriptor_of(stream);
    if (file_of(fd) >= FIRST_FILE && __fwriting(stream)) {
        uint64_t arrival_ns = tfd_storage_now();
        int64_t before = position_of(fd);
        int saved_errno = errno;
        fflush(stream); /* fclose reports a failure again */
        errno = saved_errno;
        streamed(stream, before, true, arrival_ns);
    }
    forget(fd);
    return NEXT(fclose)(stream);
}

/* Both files may be emulated: the read takes its time first, then the write. */
static void copied(int in_fd, int64_t in_offset, int out_fd, int64_t out_offset, ssize_t bytes,
                   uint64_t arrival_ns)
{
    transferred(in_fd, in_offset, bytes, false, arrival_ns);
    transferred(out_fd, out_offset, bytes, true, arrival_ns);
}

static int64_t offset_before(const off_t *offset, ssize_t moved)
{
    return offset && moved >= 0 ? *offset - moved : -1;
}

static ssize_t emulated_sendfile(int out_fd, int in_fd, off_t *offset, size_t count)
{
    uint64_t arrival_ns = tfd_storage_now();
    ssize_t moved = NEXT(sendfile)(out_fd, in_fd, offset, count);
    copied(in_fd, offset_before(offset, moved), out_fd, -1, moved, arrival_ns);
    return moved;
}

static ssize_t emulated_sendfile64(int out_fd, int in_fd, off64_t *offset, size_t count)
{
    uint64_t arrival_ns = tfd_storage_now();
    ssize_t moved = NEXT(sendfile64)(out_fd, in_fd, offset, count);
    copied(in_fd, offset_before(offset, moved), out_fd, -1, moved, arrival_ns);
    return moved;
}

static ssize_t emulated_copy_file_range(int in_fd, off64_t *in_offset, int out_fd, off64_t *out_offset,
                                        size_t count, unsigned flags)
{
    uint64_t arrival_ns = tfd_storage_now();
    ssize_t moved = NEXT(copy_file_range)(in_fd, in_offset, out_fd, out_offset, count, flags);
    copied(in_fd, offset_before(in_offset, moved), out_fd, offset_before(out_offset, moved), moved,
           arrival_ns);
    return moved;
}

static const struct {
    unsigned hook;
    void *emulated;
} routes[] = {
#define OWN(symbol) {TFD_HOOK_##symbol, (void *)emulated_##symbol},
#define X(symbol, ...) OWN(symbol)
    TFD_EMULATED_CALLS
#undef X
#undef OWN
};

void tfd_emulation_install(void)
{
    if (!configured || installed)
        return;
    forget_range(0, UINT_MAX); /* of an earlier session */
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        unsigned hook = routes[i].hook;
        if (!tfd_next[hook])
            continue;
        __atomic_store_n(&next_of[hook], tfd_next[hook], __ATOMIC_RELAXED);
        __atomic_store_n(&tfd_next[hook], routes[i].emulated, __ATOMIC_RELEASE);
    }
    installed = true;
}

void tfd_emulation_remove(void)
{
    configured = false; /* for one session only */
    if (!installed)
        return;
    installed = false;
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++)
        if (tfd_next[routes[i].hook] == routes[i].emulated)
            __atomic_store_n(&tfd_next[routes[i].hook], next_of[routes[i].hook], __ATOMIC_RELEASE);
}
