#define _GNU_SOURCE
#include "darshan_guard.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "darshan_calls.h"
#include "darshan_passage.h"
#include "descriptor_table.h"
#include "hook_table.h"
#include "recorder.h"
#include "stream_descriptor.h"
#include "wrappers.h"

/* A call on its way. One per thread is enough: what comes in while it is on its
 * way is a signal handler's, and goes straight to the C library. Inside Darshan
 * it would wait for a lock its own thread holds, for ever. */
struct passage {
    unsigned hook; /* + 1; 0: none on its way */
    bool locked;   /* the real call is over, Darshan may be recording */
    bool dropping; /* the real close or fclose comes later */
    int real_errno;
};

__thread uint64_t tfd_darshan_recorded __attribute__((tls_model("initial-exec")));
uint32_t tfd_darshan_attached;
uint64_t tfd_darshan_copied = UINT64_MAX;
/* Generation in which this thread last passed: what it gained then stays that session's. */
static __thread uint32_t passed_in __attribute__((tls_model("initial-exec")));
static __thread struct passage passage __attribute__((tls_model("initial-exec")));
static _Atomic uint32_t open_generation;
static _Atomic uint64_t nested_calls;
static void *darshan_wrapper[TFD_HOOK_COUNT];
static void *guard_of[TFD_HOOK_COUNT];

/* Held from the end of the real call until Darshan has recorded it. Darshan has
 * one lock for that per module anyway; with ours around it, the order in which
 * it counts is known, and records can be copied whole. */
static pthread_mutex_t record_lock = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;

/* Generation in which Darshan learnt of a descriptor, or of the stream on it. */
static _Atomic uint32_t *known_descriptor, *known_stream;
static _Atomic uint32_t *aliases; /* entries Darshan has for a descriptor beyond the first: one per fileno */
static uint64_t *entry_of;        /* what a descriptor meant when fileno told Darshan of it */
static FILE **stream_on;          /* that Darshan knows, by descriptor */
static _Atomic int highest_known;
#define DISTRUSTED UINT32_MAX /* no generation */

static bool may_pass(unsigned hook)
{
    uint32_t generation = atomic_load_explicit(&open_generation, memory_order_relaxed);
    if (passage.hook) {
        atomic_fetch_add_explicit(&nested_calls, 1, memory_order_relaxed);
        return false;
    }
    if (!generation || generation != atomic_load_explicit(&tfd_shared->generation, memory_order_relaxed) ||
        tfd_memory_is_lent())
        return false;
    passed_in = generation;
    return darshan_wrapper[hook];
}

static void enter(unsigned hook)
{
    passage = (struct passage){.hook = hook + 1};
    atomic_signal_fence(memory_order_seq_cst);
}

/* In the function that Darshan calls as the real one. It may call others on
 * the way (fileno in fclose), under its own locks: only its own call counts. */
static void real_call_is_over(unsigned hook)
{
    if (passage.hook != hook + 1 || passage.locked)
        return;
    passage.real_errno = errno;
    tfd_set_owed(true);
    pthread_mutex_lock(&record_lock);
    passage.locked = true;
    errno = passage.real_errno;
}

static void leave(void)
{
    int real_errno = passage.locked ? passage.real_errno : errno;
    tfd_darshan_recorded = tfd_ticks();
    if (passage.locked)
        pthread_mutex_unlock(&record_lock);
    atomic_signal_fence(memory_order_seq_cst);
    passage = (struct passage){0};
    errno = real_errno;
}

static uint32_t current(void)
{
    return atomic_load_explicit(&open_generation, memory_order_relaxed);
}

static bool is_known(_Atomic uint32_t *table, int fd)
{
    return (unsigned)fd < TFD_MAX_DESCRIPTORS && table &&
           atomic_load_explicit(&table[fd], memory_order_relaxed) == current();
}

static void know(_Atomic uint32_t *table, int fd, uint32_t generation)
{
    if ((unsigned)fd >= TFD_MAX_DESCRIPTORS)
        return;
    if (generation && fd > atomic_load_explicit(&highest_known, memory_order_relaxed))
        atomic_store(&highest_known, fd);
    atomic_store_explicit(&table[fd], generation, memory_order_relaxed);
}

static bool knows(int fd)
{
    return is_known(known_descriptor, fd);
}

/* Darshan still has an entry for it, which is not to be used any more. A stream's
 * descriptor is left like that when the stream is closed: to tell Darshan of a
 * close would change its file's counters. */
static void distrust(_Atomic uint32_t *table, int fd)
{
    if ((unsigned)fd < TFD_MAX_DESCRIPTORS && atomic_load_explicit(&table[fd], memory_order_relaxed))
        atomic_store_explicit(&table[fd], DISTRUSTED, memory_order_relaxed);
}

static bool knows_stream(FILE *stream)
{
    return stream && is_known(known_stream, tfd_descriptor_of(stream));
}

/* Where Darshan still has an entry of what the number was before, it has two now: a close removes both. */
static void gain_descriptor(int fd)
{
    if ((unsigned)fd < TFD_MAX_DESCRIPTORS && atomic_load(&known_descriptor[fd]))
        atomic_fetch_add(&aliases[fd], 1);
    know(known_descriptor, fd, passed_in);
}

static void gain_stream_of(FILE *stream, int fd)
{
    if (!stream || (unsigned)fd >= TFD_MAX_DESCRIPTORS)
        return;
    stream_on[fd] = stream;
    know(known_stream, fd, passed_in);
}

static void gain_stream(FILE *stream)
{
    gain_stream_of(stream, tfd_descriptor_of(stream));
}

/* Darshan reads the mode only beside O_CREAT: through it such a file would have none. */
static bool is_unnamed(int flags)
{
    return (flags & O_TMPFILE) == O_TMPFILE;
}

/* Without the directory's name Darshan would take the relative path for a path. */
static bool is_resolvable(int dirfd, const char *path)
{
    return dirfd == AT_FDCWD || (path && path[0] == '/') || knows(dirfd);
}

static bool is_duplication(int command)
{
    return command == F_DUPFD || command == F_DUPFD_CLOEXEC;
}

/* Of the calls in the lists those that give a number which nobody had. */
static bool opens_descriptor(unsigned hook)
{
    switch (hook) {
    case TFD_HOOK_open:
    case TFD_HOOK_open64:
    case TFD_HOOK___open_2:
    case TFD_HOOK_openat:
    case TFD_HOOK_openat64:
    case TFD_HOOK_creat:
    case TFD_HOOK_creat64:
    case TFD_HOOK_mkstemp:
    case TFD_HOOK_mkostemp:
    case TFD_HOOK_mkstemps:
    case TFD_HOOK_mkostemps:
    case TFD_HOOK_dup:
    case TFD_HOOK_fcntl:
    case TFD_HOOK_fcntl64:
        return true;
    default:
        return false;
    }
}

static void number_is_new(unsigned hook, int fd);

/* The guard of a symbol, and what Darshan calls as the real function. They
 * differ in nothing but their types, so a list makes them. */
#define X(symbol, result, parameters, arguments, condition, effect)                                          \
    static result guard_##symbol parameters                                                                  \
    {                                                                                                        \
        if (!(condition) || !may_pass(TFD_HOOK_##symbol))                                                    \
            return ((result(*) parameters)tfd_definition[TFD_HOOK_##symbol])arguments;                       \
        enter(TFD_HOOK_##symbol);                                                                            \
        result returned = ((result(*) parameters)darshan_wrapper[TFD_HOOK_##symbol])arguments;               \
        leave();                                                                                             \
        effect;                                                                                              \
        return returned;                                                                                     \
    }                                                                                                        \
    static result real_##symbol parameters                                                                   \
    {                                                                                                        \
        result returned = ((result(*) parameters)tfd_definition[TFD_HOOK_##symbol])arguments;                \
        if (opens_descriptor(TFD_HOOK_##symbol))                                                             \
            number_is_new(TFD_HOOK_##symbol, (int)(intptr_t)returned);                                       \
        real_call_is_over(TFD_HOOK_##symbol);                                                                \
        return returned;                                                                                     \
    }
TFD_DARSHAN_CALLS(X)
#undef X

typedef int close_function(int);
typedef int fclose_function(FILE *);
typedef int dup2_function(int, int);
typedef int dup3_function(int, int, int);
typedef FILE *freopen_function(const char *, const char *, FILE *);
typedef int vfscanf_function(FILE *, const char *, va_list);

/* Darshan forgets the descriptor after the real close: by then another thread
 * may have been given the number, and its file would be forgotten instead. So
 * Darshan is told first, with a real close that does nothing, and then the
 * descriptor is closed. */
static void drop_descriptor(int fd)
{
    uint32_t entries = atomic_exchange(&aliases[fd], 0) + 1;
    know(known_descriptor, fd, 0);
    for (; entries; entries--) {
        enter(TFD_HOOK_close);
        passage.dropping = true;
        ((close_function *)darshan_wrapper[TFD_HOOK_close])(fd);
        leave();
    }
}

/* Darshan would have two entries for the number, and find the older one once
 * its table has grown: bytes would go to another file. What it is told here is
 * no part of the call at hand. */
static void drop_stale(int fd)
{
    struct passage outer = passage;
    uint64_t recorded = tfd_darshan_recorded;
    int saved_errno = errno;
    drop_descriptor(fd);
    tfd_darshan_recorded = recorded;
    passage = outer;
    errno = saved_errno;
}

/* In the function that Darshan calls as the real one, before it records: it holds no lock yet. A stream that
 * was closed leaves such an entry. */
static void number_is_new(unsigned hook, int fd)
{
    if (passage.hook == hook + 1 && (unsigned)fd < TFD_MAX_DESCRIPTORS &&
        atomic_load_explicit(&known_descriptor[fd], memory_order_relaxed))
        drop_stale(fd);
}

/* As with close: the next fopen may be given the same stream. */
static void drop_stream(int fd)
{
    FILE *stream = stream_on[fd];
    know(known_stream, fd, 0);
    enter(TFD_HOOK_fclose);
    passage.dropping = true;
    ((fclose_function *)darshan_wrapper[TFD_HOOK_fclose])(stream);
    leave();
}

static int guard_close(int fd)
{
    if (knows(fd) && may_pass(TFD_HOOK_close))
        drop_descriptor(fd);
    tfd_darshan_forget(fd);
    return ((close_function *)tfd_definition[TFD_HOOK_close])(fd);
}

static int real_close(int fd)
{
    int status = passage.hook == TFD_HOOK_close + 1 && passage.dropping
                     ? 0
                     : ((close_function *)tfd_definition[TFD_HOOK_close])(fd);
    real_call_is_over(TFD_HOOK_close);
    return status;
}

static int guard_fclose(FILE *stream)
{
    int fd = tfd_descriptor_of(stream);
    if (knows_stream(stream) && may_pass(TFD_HOOK_fclose))
        drop_stream(fd);
    if (!tfd_memory_is_lent())
        distrust(known_descriptor, fd);
    return ((fclose_function *)tfd_definition[TFD_HOOK_fclose])(stream);
}

static int real_fclose(FILE *stream)
{
    int status = passage.hook == TFD_HOOK_fclose + 1 && passage.dropping
                     ? 0
                     : ((fclose_function *)tfd_definition[TFD_HOOK_fclose])(stream);
    real_call_is_over(TFD_HOOK_fclose);
    return status;
}

/* What the number meant is over, whether Darshan knows the new meaning or not. */
static int guard_dup2(int fd, int copy)
{
    if (fd == copy)
        return ((dup2_function *)tfd_definition[TFD_HOOK_dup2])(fd, copy);
    tfd_darshan_forget(copy);
    if (!knows(fd) || !may_pass(TFD_HOOK_dup2))
        return ((dup2_function *)tfd_definition[TFD_HOOK_dup2])(fd, copy);
    enter(TFD_HOOK_dup2);
    int returned = ((dup2_function *)darshan_wrapper[TFD_HOOK_dup2])(fd, copy);
    leave();
    gain_descriptor(returned);
    return returned;
}

static int real_dup2(int fd, int copy)
{
    int returned = ((dup2_function *)tfd_definition[TFD_HOOK_dup2])(fd, copy);
    real_call_is_over(TFD_HOOK_dup2);
    return returned;
}

static int guard_dup3(int fd, int copy, int flags)
{
    if (fd != copy)
        tfd_darshan_forget(copy);
    if (!knows(fd) || !may_pass(TFD_HOOK_dup3))
        return ((dup3_function *)tfd_definition[TFD_HOOK_dup3])(fd, copy, flags);
    enter(TFD_HOOK_dup3);
    int returned = ((dup3_function *)darshan_wrapper[TFD_HOOK_dup3])(fd, copy, flags);
    leave();
    gain_descriptor(returned);
    return returned;
}

static int real_dup3(int fd, int copy, int flags)
{
    int returned = ((dup3_function *)tfd_definition[TFD_HOOK_dup3])(fd, copy, flags);
    real_call_is_over(TFD_HOOK_dup3);
    return returned;
}

/* Darshan asks for the descriptor of a stream it is told to forget, which may
 * be closed already: it gets none. */
static int real_fileno(FILE *stream)
{
    if (passage.dropping)
        return -1;
    int fd = ((fclose_function *)tfd_definition[TFD_HOOK_fileno])(stream);
    real_call_is_over(TFD_HOOK_fileno);
    return fd;
}

static uint64_t meaning_of(int fd)
{
    return atomic_load_explicit(&tfd_descriptor_at(fd)->word, memory_order_relaxed);
}

/* The same file again is another entry for the same record. */
static void drop_other_file(int fd)
{
    if ((unsigned)fd < TFD_MAX_DESCRIPTORS &&
        atomic_load_explicit(&known_descriptor[fd], memory_order_relaxed) && entry_of[fd] != meaning_of(fd))
        drop_stale(fd);
}

static int guard_fileno(FILE *stream)
{
    if (!knows_stream(stream) || !may_pass(TFD_HOOK_fileno))
        return ((fclose_function *)tfd_definition[TFD_HOOK_fileno])(stream);
    drop_other_file(tfd_descriptor_of(stream));
    enter(TFD_HOOK_fileno);
    int fd = ((fclose_function *)darshan_wrapper[TFD_HOOK_fileno])(stream);
    leave();
    gain_descriptor(fd);
    if ((unsigned)fd < TFD_MAX_DESCRIPTORS)
        entry_of[fd] = meaning_of(fd);
    return fd;
}

static FILE *reopen(unsigned hook, const char *path, const char *mode, FILE *stream)
{
    tfd_darshan_forget(tfd_descriptor_of(stream));
    if (!path || !may_pass(hook))
        return ((freopen_function *)tfd_definition[hook])(path, mode, stream);
    enter(hook);
    FILE *reopened = ((freopen_function *)darshan_wrapper[hook])(path, mode, stream);
    leave();
    gain_stream(reopened);
    return reopened;
}

static FILE *guard_freopen(const char *path, const char *mode, FILE *stream)
{
    return reopen(TFD_HOOK_freopen, path, mode, stream);
}

static FILE *guard_freopen64(const char *path, const char *mode, FILE *stream)
{
    return reopen(TFD_HOOK_freopen64, path, mode, stream);
}

static FILE *real_freopen(const char *path, const char *mode, FILE *stream)
{
    FILE *reopened = ((freopen_function *)tfd_definition[TFD_HOOK_freopen])(path, mode, stream);
    real_call_is_over(TFD_HOOK_freopen);
    return reopened;
}

static FILE *real_freopen64(const char *path, const char *mode, FILE *stream)
{
    FILE *reopened = ((freopen_function *)tfd_definition[TFD_HOOK_freopen64])(path, mode, stream);
    real_call_is_over(TFD_HOOK_freopen64);
    return reopened;
}

static void guard_rewind(FILE *stream)
{
    if (!knows_stream(stream) || !may_pass(TFD_HOOK_rewind)) {
        ((void (*)(FILE *))tfd_definition[TFD_HOOK_rewind])(stream);
        return;
    }
    enter(TFD_HOOK_rewind);
    ((void (*)(FILE *))darshan_wrapper[TFD_HOOK_rewind])(stream);
    leave();
}

static void real_rewind(FILE *stream)
{
    ((void (*)(FILE *))tfd_definition[TFD_HOOK_rewind])(stream);
    real_call_is_over(TFD_HOOK_rewind);
}

/* The C library's headers rename vfscanf by the language standard in use, and so
 * libdarshan's wrapper: it has one of the three, and one real function behind it. */
static int scan(unsigned hook, FILE *stream, const char *format, va_list arguments)
{
    if (!knows_stream(stream) || !may_pass(hook))
        return ((vfscanf_function *)tfd_definition[hook])(stream, format, arguments);
    enter(hook);
    int items = ((vfscanf_function *)darshan_wrapper[hook])(stream, format, arguments);
    leave();
    return items;
}

static int guard_vfscanf(FILE *stream, const char *format, va_list arguments)
{
    return scan(TFD_HOOK_vfscanf, stream, format, arguments);
}

static int guard___isoc99_vfscanf(FILE *stream, const char *format, va_list arguments)
{
    return scan(TFD_HOOK___isoc99_vfscanf, stream, format, arguments);
}

static int guard___isoc23_vfscanf(FILE *stream, const char *format, va_list arguments)
{
    return scan(TFD_HOOK___isoc23_vfscanf, stream, format, arguments);
}

static int real_vfscanf(FILE *stream, const char *format, va_list arguments)
{
    unsigned hook = passage.hook ? passage.hook - 1 : TFD_HOOK_vfscanf;
    int items = ((vfscanf_function *)tfd_definition[hook])(stream, format, arguments);
    real_call_is_over(hook);
    return items;
}

struct route {
    unsigned hook;
    const char *pointer; /* libdarshan's variable for the real function */
    void *guard, *real;
};

static const struct route routes[] = {
#define X(symbol, ...) {TFD_HOOK_##symbol, "__real_" #symbol, (void *)guard_##symbol, (void *)real_##symbol},
    TFD_DARSHAN_CALLS(X) X(close) X(fclose) X(fileno) X(dup2) X(dup3) X(freopen) X(freopen64) X(rewind) X(
        vfscanf)
#undef X
        {TFD_HOOK___isoc99_vfscanf, "__real_vfscanf", (void *)guard___isoc99_vfscanf, (void *)real_vfscanf},
    {TFD_HOOK___isoc23_vfscanf, "__real_vfscanf", (void *)guard___isoc23_vfscanf, (void *)real_vfscanf},
};

/* The library's own definition of a symbol: dlsym also finds those of what it depends on. */
static void *own_symbol(void *handle, const void *base, const char *name)
{
    Dl_info info;
    void *address = dlsym(handle, name);
    return address && dladdr(address, &info) && info.dli_fbase == base ? address : NULL;
}

static void *new_table(size_t entry_bytes)
{
    void *memory = mmap(NULL, TFD_MAX_DESCRIPTORS * entry_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/* Darshan looks up the real functions behind itself, where another interposer
 * stands before it: it gets the ones the program would have called. */
int tfd_darshan_guard_prepare(void *handle, const void *base)
{
    int count = 0;
    known_descriptor = new_table(sizeof *known_descriptor);
    known_stream = new_table(sizeof *known_stream);
    aliases = new_table(sizeof *aliases);
    entry_of = new_table(sizeof *entry_of);
    stream_on = new_table(sizeof *stream_on);
    if (!known_descriptor || !known_stream || !aliases || !entry_of || !stream_on)
        return 0;
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        const struct route *route = &routes[i];
        void *wrapper = own_symbol(handle, base, tfd_hooks[route->hook].symbol);
        void **pointer = own_symbol(handle, base, route->pointer);
        if (!wrapper || !pointer || !tfd_definition[route->hook])
            continue;
        *pointer = route->real;
        darshan_wrapper[route->hook] = wrapper;
        guard_of[route->hook] = route->guard;
        count++;
    }
    return count;
}

bool tfd_darshan_wraps(unsigned hook)
{
    return darshan_wrapper[hook];
}

bool tfd_darshan_guard_install(void)
{
    for (unsigned hook = 0; hook < TFD_HOOK_COUNT; hook++)
        if (guard_of[hook])
            __atomic_store_n(&tfd_next[hook], guard_of[hook], __ATOMIC_RELAXED);
    return true;
}

void tfd_darshan_guard_remove(void)
{
    for (unsigned hook = 0; hook < TFD_HOOK_COUNT; hook++)
        if (guard_of[hook])
            __atomic_store_n(&tfd_next[hook], tfd_definition[hook], __ATOMIC_RELAXED);
}

void tfd_darshan_guard_open(uint32_t generation)
{
    atomic_store(&nested_calls, 0);
    tfd_darshan_copied = UINT64_MAX;
    tfd_darshan_attached = 1;
    atomic_store(&open_generation, generation);
}

void tfd_darshan_guard_detach(void)
{
    tfd_darshan_attached = 0;
}

void tfd_darshan_guard_close(void)
{
    atomic_store(&open_generation, 0);
}

uint64_t tfd_darshan_nested_calls(void)
{
    return atomic_load(&nested_calls);
}

void tfd_darshan_lock(void)
{
    enter(TFD_HOOK_COUNT); /* a signal handler of this thread must not wait for it */
    pthread_mutex_lock(&record_lock);
}

void tfd_darshan_unlock(void)
{
    pthread_mutex_unlock(&record_lock);
    passage = (struct passage){0};
}

/* Darshan keeps a descriptor or stream it is not told of, and would find either
 * the old meaning or the new one under the number. What it is told here is no
 * part of the call at hand, which has its own time. */
static void drop(int fd)
{
    uint64_t recorded = tfd_darshan_recorded;
    bool owed = tfd_is_owed();
    int saved_errno = errno;
    if (atomic_load_explicit(&known_stream[fd], memory_order_relaxed))
        drop_stream(fd);
    if (atomic_load_explicit(&known_descriptor[fd], memory_order_relaxed))
        drop_descriptor(fd);
    tfd_darshan_recorded = recorded;
    tfd_set_owed(owed);
    errno = saved_errno;
}

/* No further than Darshan ever knew. */
void tfd_darshan_forget_range(unsigned first, unsigned last)
{
    if (!tfd_darshan_attached || !known_descriptor || tfd_memory_is_lent())
        return;
    unsigned highest = (unsigned)atomic_load(&highest_known);
    for (unsigned fd = first; fd <= last && fd <= highest; fd++) {
        if (!passage.hook && current())
            drop((int)fd);
        distrust(known_descriptor, (int)fd); /* in a signal handler inside Darshan that must do */
        distrust(known_stream, (int)fd);
    }
}

void tfd_darshan_forget(int fd)
{
    if (fd >= 0)
        tfd_darshan_forget_range((unsigned)fd, (unsigned)fd);
}

void tfd_darshan_guard_sweep(void)
{
    int highest = known_descriptor ? atomic_load(&highest_known) : -1;
    for (int fd = 0; fd <= highest; fd++)
        drop(fd);
}

/* A child counts with the builtin fold alone: Darshan's locks may be held by
 * threads it does not have. */
void tfd_darshan_guard_reset_in_child(void)
{
    record_lock = (pthread_mutex_t)PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
    passage = (struct passage){0};
    tfd_darshan_recorded = 0;
    tfd_darshan_guard_close();
    tfd_darshan_guard_detach();
    tfd_darshan_guard_remove();
}
