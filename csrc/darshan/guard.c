#define _GNU_SOURCE
#include "darshan/guard.h"

#include <dlfcn.h>
#include <fcntl.h>

#include "base/stream_descriptor.h"
#include "darshan/calls.h"
#include "darshan/gate.h"
#include "darshan/known.h"
#include "hooks/function_types.h"

static void *guard_of[TFD_HOOK_COUNT];

/* Darshan passes the mode on only with O_CREAT, so a file of O_TMPFILE would get none. If it does not know the
 * directory's name, it takes a relative path for a path. */
static bool open_may_pass(int dirfd, const char *path, int flags)
{
    bool is_unnamed = (flags & O_TMPFILE) == O_TMPFILE;
    return !is_unnamed && (dirfd == AT_FDCWD || (path && path[0] == '/') || tfd_knows(dirfd));
}

static bool fcntl_may_pass(int fd, int command)
{
    return (command == F_DUPFD || command == F_DUPFD_CLOEXEC) && tfd_knows(fd);
}

/* Offset -1 means the descriptor's own position. Darshan would take it for an offset. */
static bool transfer_may_pass(int fd, int64_t offset)
{
    return offset >= 0 && tfd_knows(fd);
}

static inline TFD_HOT bool go_in(unsigned hook, bool may_pass)
{
    if (!may_pass || !gate_admits(hook))
        return false;
    gate_enter(hook);
    return true;
}

static inline void *way_of(unsigned hook, bool inside)
{
    return inside ? tfd_darshan_wrapper[hook] : tfd_definition[hook];
}

enum gain { NOTHING, DESCRIPTOR, STREAM };

static inline TFD_HOT void come_out(bool inside, enum gain gains, intptr_t returned)
{
    if (!inside)
        return;
    gate_leave();
    if (gains == DESCRIPTOR)
        tfd_known_gain((int)returned);
    else if (gains == STREAM)
        tfd_known_gain_stream((FILE *)returned);
}

/* Call this in the function that Darshan calls as the real one, before it records and without its locks. A call that
 * returns a descriptor returns a number that was free. Darshan may still have an entry of it, from a closed stream. */
static inline TFD_HOT void real_call_is_over(unsigned hook, enum gain gains, intptr_t returned)
{
    if (gains == DESCRIPTOR && gate_is_passed_by(hook))
        tfd_known_drop_stale((int)returned);
    gate_real_call_is_over(hook);
}

/* The guard of a symbol, and what Darshan calls as the real function. They
 * differ in their types only, so a list makes them. */
#define OWN(symbol)
#define X(symbol, result, parameters, arguments, may_pass, gains)                                            \
    static result guard_##symbol parameters                                                                  \
    {                                                                                                        \
        bool inside = go_in(TFD_HOOK_##symbol, may_pass);                                                    \
        result returned = ((result(*) parameters)way_of(TFD_HOOK_##symbol, inside))arguments;                \
        come_out(inside, gains, (intptr_t)returned);                                                         \
        return returned;                                                                                     \
    }                                                                                                        \
    static result real_##symbol parameters                                                                   \
    {                                                                                                        \
        result returned = ((result(*) parameters)tfd_definition[TFD_HOOK_##symbol])arguments;                \
        real_call_is_over(TFD_HOOK_##symbol, gains, (intptr_t)returned);                                     \
        return returned;                                                                                     \
    }
TFD_DARSHAN_CALLS
#undef X
#undef OWN

static int guard_close(int fd)
{
    if (tfd_knows(fd) && gate_admits(TFD_HOOK_close))
        tfd_known_drop(fd);
    if (tfd_known_at_all(fd))
        tfd_darshan_forget(fd);
    return TFD_DEFINITION(close)(fd);
}

static int real_close(int fd)
{
    int status =
        gate_is_passed_by(TFD_HOOK_close) && tfd_gate_passage.dropping ? 0 : TFD_DEFINITION(close)(fd);
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
    return TFD_DEFINITION(fclose)(stream);
}

static int real_fclose(FILE *stream)
{
    int status =
        gate_is_passed_by(TFD_HOOK_fclose) && tfd_gate_passage.dropping ? 0 : TFD_DEFINITION(fclose)(stream);
    gate_real_call_is_over(TFD_HOOK_fclose);
    return status;
}

/* The number's old meaning ends, whether Darshan learns the new one or not. */
static int guard_dup2(int fd, int copy)
{
    if (fd == copy)
        return TFD_DEFINITION(dup2)(fd, copy);
    tfd_darshan_forget(copy);
    if (!tfd_knows(fd) || !gate_admits(TFD_HOOK_dup2))
        return TFD_DEFINITION(dup2)(fd, copy);
    gate_enter(TFD_HOOK_dup2);
    int returned = TFD_DARSHAN_WRAPPER(dup2)(fd, copy);
    gate_leave();
    tfd_known_gain(returned);
    return returned;
}

static int real_dup2(int fd, int copy)
{
    int returned = TFD_DEFINITION(dup2)(fd, copy);
    gate_real_call_is_over(TFD_HOOK_dup2);
    return returned;
}

static int guard_dup3(int fd, int copy, int flags)
{
    if (fd != copy)
        tfd_darshan_forget(copy);
    if (!tfd_knows(fd) || !gate_admits(TFD_HOOK_dup3))
        return TFD_DEFINITION(dup3)(fd, copy, flags);
    gate_enter(TFD_HOOK_dup3);
    int returned = TFD_DARSHAN_WRAPPER(dup3)(fd, copy, flags);
    gate_leave();
    tfd_known_gain(returned);
    return returned;
}

static int real_dup3(int fd, int copy, int flags)
{
    int returned = TFD_DEFINITION(dup3)(fd, copy, flags);
    gate_real_call_is_over(TFD_HOOK_dup3);
    return returned;
}

/* Darshan asks for the descriptor of a stream that it is told to forget. The
 * stream may be closed already, so Darshan gets none. */
static int real_fileno(FILE *stream)
{
    if (tfd_gate_passage.dropping)
        return -1;
    int fd = TFD_DEFINITION(fileno)(stream);
    gate_real_call_is_over(TFD_HOOK_fileno);
    return fd;
}

static int guard_fileno(FILE *stream)
{
    if (!tfd_knows_stream(stream) || !gate_admits(TFD_HOOK_fileno))
        return TFD_DEFINITION(fileno)(stream);
    tfd_known_drop_other_file(tfd_descriptor_of(stream));
    gate_enter(TFD_HOOK_fileno);
    int fd = TFD_DARSHAN_WRAPPER(fileno)(stream);
    gate_leave();
    tfd_known_gain_alias(fd);
    return fd;
}

static FILE *reopen(unsigned hook, const char *path, const char *mode, FILE *stream)
{
    tfd_darshan_forget(tfd_descriptor_of(stream));
    if (!path || !gate_admits(hook))
        return ((tfd_freopen_function *)tfd_definition[hook])(path, mode, stream);
    gate_enter(hook);
    FILE *reopened = ((tfd_freopen_function *)tfd_darshan_wrapper[hook])(path, mode, stream);
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
    FILE *reopened = TFD_DEFINITION(freopen)(path, mode, stream);
    gate_real_call_is_over(TFD_HOOK_freopen);
    return reopened;
}

static FILE *real_freopen64(const char *path, const char *mode, FILE *stream)
{
    FILE *reopened = TFD_DEFINITION(freopen64)(path, mode, stream);
    gate_real_call_is_over(TFD_HOOK_freopen64);
    return reopened;
}

static void guard_rewind(FILE *stream)
{
    if (!tfd_knows_stream(stream) || !gate_admits(TFD_HOOK_rewind)) {
        TFD_DEFINITION(rewind)(stream);
        return;
    }
    gate_enter(TFD_HOOK_rewind);
    TFD_DARSHAN_WRAPPER(rewind)(stream);
    gate_leave();
}

static void real_rewind(FILE *stream)
{
    TFD_DEFINITION(rewind)(stream);
    gate_real_call_is_over(TFD_HOOK_rewind);
}

/* The C library's headers rename vfscanf by the language standard in use, and
 * libdarshan's wrapper with it. So libdarshan has one of the three names, and
 * one real function. */
static int scan(unsigned hook, FILE *stream, const char *format, va_list arguments)
{
    if (!tfd_knows_stream(stream) || !gate_admits(hook))
        return ((tfd_vfscanf_function *)tfd_definition[hook])(stream, format, arguments);
    gate_enter(hook);
    int items = ((tfd_vfscanf_function *)tfd_darshan_wrapper[hook])(stream, format, arguments);
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
    int items = ((tfd_vfscanf_function *)tfd_definition[hook])(stream, format, arguments);
    gate_real_call_is_over(hook);
    return items;
}

struct route {
    unsigned hook;
    const char *pointer; /* libdarshan's variable for the real function */
    void *guard, *real;
};

static const struct route routes[] = {
#define OWN(symbol) {TFD_HOOK_##symbol, "__real_" #symbol, (void *)guard_##symbol, (void *)real_##symbol},
#define X(symbol, ...) OWN(symbol)
    TFD_DARSHAN_CALLS
#undef X
#undef OWN
    {TFD_HOOK___isoc99_vfscanf, "__real_vfscanf", (void *)guard___isoc99_vfscanf, (void *)real_vfscanf},
    {TFD_HOOK___isoc23_vfscanf, "__real_vfscanf", (void *)guard___isoc23_vfscanf, (void *)real_vfscanf},
};

/* Return the library's own definition of a symbol. dlsym would also find those of its dependencies. */
static void *own_symbol(void *handle, const void *base, const char *name)
{
    Dl_info info;
    void *address = dlsym(handle, name);
    return address && dladdr(address, &info) && info.dli_fbase == base ? address : NULL;
}

/* Darshan looks up the real functions behind itself, and would miss another
 * interposer before it. So it is given the functions that the program would
 * call. */
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

/* A child counts with the builtin fold only: threads of the parent may have
 * held Darshan's locks. */
void tfd_darshan_guard_reset_in_child(void)
{
    tfd_gate_reset_in_child();
    tfd_darshan_guard_remove();
}
