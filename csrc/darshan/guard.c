#define _GNU_SOURCE
#include "darshan/guard.h"

#include <dlfcn.h>
#include <fcntl.h>

#include "base/stream_descriptor.h"
#include "darshan/calls.h"
#include "darshan/gate.h"
#include "darshan/known.h"
#include "hooks/libc_functions.h"

static void *guard_of[TFD_HOOK_COUNT];

/* Darshan reads the mode only beside O_CREAT: through it such a file would have none. */
static bool is_unnamed(int flags)
{
    return (flags & O_TMPFILE) == O_TMPFILE;
}

/* Without the directory's name Darshan would take the relative path for a path. */
static bool is_resolvable(int dirfd, const char *path)
{
    return dirfd == AT_FDCWD || (path && path[0] == '/') || tfd_knows(dirfd);
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

/* In the function that Darshan calls as the real one, before it records: it holds no lock yet. A stream that
 * was closed leaves an entry for what the number was. */
static void number_is_new(unsigned hook, int fd)
{
    if (gate_is_passed_by(hook))
        tfd_known_drop_stale(fd);
}

/* The guard of a symbol, and what Darshan calls as the real function. They
 * differ in nothing but their types, so a list makes them. */
#define X(symbol, result, parameters, arguments, condition, effect)                                          \
    static result guard_##symbol parameters                                                                  \
    {                                                                                                        \
        if (!(condition) || !gate_admits(TFD_HOOK_##symbol))                                                 \
            return ((result(*) parameters)tfd_definition[TFD_HOOK_##symbol])arguments;                       \
        gate_enter(TFD_HOOK_##symbol);                                                                       \
        result returned = ((result(*) parameters)tfd_darshan_wrapper[TFD_HOOK_##symbol])arguments;           \
        gate_leave();                                                                                        \
        effect;                                                                                              \
        return returned;                                                                                     \
    }                                                                                                        \
    static result real_##symbol parameters                                                                   \
    {                                                                                                        \
        result returned = ((result(*) parameters)tfd_definition[TFD_HOOK_##symbol])arguments;                \
        if (opens_descriptor(TFD_HOOK_##symbol))                                                             \
            number_is_new(TFD_HOOK_##symbol, (int)(intptr_t)returned);                                       \
        gate_real_call_is_over(TFD_HOOK_##symbol);                                                           \
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

static int guard_close(int fd)
{
    if (tfd_knows(fd) && gate_admits(TFD_HOOK_close))
        tfd_known_drop(fd);
    if (tfd_known_at_all(fd))
        tfd_darshan_forget(fd);
    return ((close_function *)tfd_definition[TFD_HOOK_close])(fd);
}

static int real_close(int fd)
{
    int status = gate_is_passed_by(TFD_HOOK_close) && tfd_gate_passage.dropping
                     ? 0
                     : ((close_function *)tfd_definition[TFD_HOOK_close])(fd);
    gate_real_call_is_over(TFD_HOOK_close);
    return status;
}

static int guard_fclose(FILE *stream)
{
    int fd = tfd_descriptor_of(stream);
    if (tfd_knows_stream(stream) && gate_admits(TFD_HOOK_fclose))
        tfd_known_drop_stream(fd);
    if (!tfd_memory_is_lent())
        tfd_known_distrust(fd);
    return ((fclose_function *)tfd_definition[TFD_HOOK_fclose])(stream);
}

static int real_fclose(FILE *stream)
{
    int status = gate_is_passed_by(TFD_HOOK_fclose) && tfd_gate_passage.dropping
                     ? 0
                     : ((fclose_function *)tfd_definition[TFD_HOOK_fclose])(stream);
    gate_real_call_is_over(TFD_HOOK_fclose);
    return status;
}

/* What the number meant is over, whether Darshan knows the new meaning or not. */
static int guard_dup2(int fd, int copy)
{
    if (fd == copy)
        return ((dup2_function *)tfd_definition[TFD_HOOK_dup2])(fd, copy);
    tfd_darshan_forget(copy);
    if (!tfd_knows(fd) || !gate_admits(TFD_HOOK_dup2))
        return ((dup2_function *)tfd_definition[TFD_HOOK_dup2])(fd, copy);
    gate_enter(TFD_HOOK_dup2);
    int returned = ((dup2_function *)tfd_darshan_wrapper[TFD_HOOK_dup2])(fd, copy);
    gate_leave();
    tfd_known_gain(returned);
    return returned;
}

static int real_dup2(int fd, int copy)
{
    int returned = ((dup2_function *)tfd_definition[TFD_HOOK_dup2])(fd, copy);
    gate_real_call_is_over(TFD_HOOK_dup2);
    return returned;
}

static int guard_dup3(int fd, int copy, int flags)
{
    if (fd != copy)
        tfd_darshan_forget(copy);
    if (!tfd_knows(fd) || !gate_admits(TFD_HOOK_dup3))
        return ((dup3_function *)tfd_definition[TFD_HOOK_dup3])(fd, copy, flags);
    gate_enter(TFD_HOOK_dup3);
    int returned = ((dup3_function *)tfd_darshan_wrapper[TFD_HOOK_dup3])(fd, copy, flags);
    gate_leave();
    tfd_known_gain(returned);
    return returned;
}

static int real_dup3(int fd, int copy, int flags)
{
    int returned = ((dup3_function *)tfd_definition[TFD_HOOK_dup3])(fd, copy, flags);
    gate_real_call_is_over(TFD_HOOK_dup3);
    return returned;
}

/* Darshan asks for the descriptor of a stream it is told to forget, which may
 * be closed already: it gets none. */
static int real_fileno(FILE *stream)
{
    if (tfd_gate_passage.dropping)
        return -1;
    int fd = ((fclose_function *)tfd_definition[TFD_HOOK_fileno])(stream);
    gate_real_call_is_over(TFD_HOOK_fileno);
    return fd;
}

static int guard_fileno(FILE *stream)
{
    if (!tfd_knows_stream(stream) || !gate_admits(TFD_HOOK_fileno))
        return ((fclose_function *)tfd_definition[TFD_HOOK_fileno])(stream);
    tfd_known_drop_other_file(tfd_descriptor_of(stream));
    gate_enter(TFD_HOOK_fileno);
    int fd = ((fclose_function *)tfd_darshan_wrapper[TFD_HOOK_fileno])(stream);
    gate_leave();
    tfd_known_gain_alias(fd);
    return fd;
}

static FILE *reopen(unsigned hook, const char *path, const char *mode, FILE *stream)
{
    tfd_darshan_forget(tfd_descriptor_of(stream));
    if (!path || !gate_admits(hook))
        return ((freopen_function *)tfd_definition[hook])(path, mode, stream);
    gate_enter(hook);
    FILE *reopened = ((freopen_function *)tfd_darshan_wrapper[hook])(path, mode, stream);
    gate_leave();
    tfd_known_gain_stream(reopened);
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
    gate_real_call_is_over(TFD_HOOK_freopen);
    return reopened;
}

static FILE *real_freopen64(const char *path, const char *mode, FILE *stream)
{
    FILE *reopened = ((freopen_function *)tfd_definition[TFD_HOOK_freopen64])(path, mode, stream);
    gate_real_call_is_over(TFD_HOOK_freopen64);
    return reopened;
}

static void guard_rewind(FILE *stream)
{
    if (!tfd_knows_stream(stream) || !gate_admits(TFD_HOOK_rewind)) {
        ((void (*)(FILE *))tfd_definition[TFD_HOOK_rewind])(stream);
        return;
    }
    gate_enter(TFD_HOOK_rewind);
    ((void (*)(FILE *))tfd_darshan_wrapper[TFD_HOOK_rewind])(stream);
    gate_leave();
}

static void real_rewind(FILE *stream)
{
    ((void (*)(FILE *))tfd_definition[TFD_HOOK_rewind])(stream);
    gate_real_call_is_over(TFD_HOOK_rewind);
}

/* The C library's headers rename vfscanf by the language standard in use, and so
 * libdarshan's wrapper: it has one of the three, and one real function behind it. */
static int scan(unsigned hook, FILE *stream, const char *format, va_list arguments)
{
    if (!tfd_knows_stream(stream) || !gate_admits(hook))
        return ((vfscanf_function *)tfd_definition[hook])(stream, format, arguments);
    gate_enter(hook);
    int items = ((vfscanf_function *)tfd_darshan_wrapper[hook])(stream, format, arguments);
    gate_leave();
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
    unsigned hook = tfd_gate_passage.hook ? tfd_gate_passage.hook - 1 : TFD_HOOK_vfscanf;
    int items = ((vfscanf_function *)tfd_definition[hook])(stream, format, arguments);
    gate_real_call_is_over(hook);
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

/* Darshan looks up the real functions behind itself, where another interposer
 * stands before it: it gets the ones the program would have called. */
int tfd_darshan_guard_prepare(void *handle, const void *base)
{
    int count = 0;
    if (!tfd_known_prepare())
        return 0;
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        const struct route *route = &routes[i];
        void *wrapper = own_symbol(handle, base, tfd_hooks[route->hook].symbol);
        void **pointer = own_symbol(handle, base, route->pointer);
        if (!wrapper || !pointer || !tfd_definition[route->hook])
            continue;
        *pointer = route->real;
        tfd_darshan_wrapper[route->hook] = wrapper;
        guard_of[route->hook] = route->guard;
        count++;
    }
    return count;
}

bool tfd_darshan_wraps(unsigned hook)
{
    return tfd_darshan_wrapper[hook];
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

/* A child counts with the builtin fold alone: Darshan's locks may be held by
 * threads it does not have. */
void tfd_darshan_guard_reset_in_child(void)
{
    tfd_gate_reset_in_child();
    tfd_darshan_guard_remove();
}
