#define _GNU_SOURCE
#include "wrappers/original_look.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

/* A longer look waits for a server, which can serve other looks meanwhile. */
#define SLOW_LOOK_NS 100000
/* Descriptors that are closed one by one before Linux 5.9, which cannot close all at once. */
#define MOST_DESCRIPTORS 4096

/* A process of ours that looks ahead. It has a copy of the job's memory, takes no lock and allocates nothing. */
struct looker {
    const struct tfd_redirect_table *table;
    int32_t most;
    int64_t until_ns;
};

bool tfd_is_regular_file_of(const struct stat *found, int64_t size, int64_t mtime_ns)
{
    return S_ISREG(found->st_mode) && found->st_size == size &&
           (int64_t)found->st_mtim.tv_sec * 1000000000 + found->st_mtim.tv_nsec == mtime_ns;
}

/* A raw system call: the C library's function may be hooked, and this call is not the program's. */
static bool is_as_copied(const struct tfd_redirected *file)
{
    struct stat original;
    return !syscall(SYS_newfstatat, AT_FDCWD, file->names, &original, 0) &&
           tfd_is_regular_file_of(&original, file->size, file->original_mtime_ns);
}

static bool look_holds(const struct tfd_redirected *file, int64_t last_ns, int64_t now_ns)
{
    return last_ns > 0 && last_ns <= now_ns && now_ns - last_ns < tfd_redirect_table_trusted_ns(file);
}

/* `now_ns`: the time before the look, which may take long. The look is not noted if another look or a change came
 * meanwhile. */
static bool look(struct tfd_redirected *file, int64_t last_ns, int64_t now_ns)
{
    bool holds = is_as_copied(file);
    if (holds && last_ns != TFD_NO_LOOK_HOLDS)
        atomic_compare_exchange_strong(tfd_redirect_table_last_look(file), &last_ns, now_ns);
    return holds;
}

bool tfd_original_holds(struct tfd_redirected *file)
{
    int64_t last_ns = atomic_load(tfd_redirect_table_last_look(file)), now_ns = tfd_clock_ns(CLOCK_BOOTTIME);
    return look_holds(file, last_ns, now_ns) || look(file, last_ns, now_ns);
}

static struct tfd_redirected *take_next(const struct tfd_redirect_table *table)
{
    struct tfd_redirected *file;
    _Atomic uint32_t *next = &tfd_redirect_table_ahead(table)->next;
    uint32_t at = atomic_load(next), after;
    do {
        if (!at)
            return NULL;
        file = tfd_redirect_table_at(table, at, &after);
    } while (!atomic_compare_exchange_weak(next, &at, after));
    return file;
}

static void add_looker(const struct looker *self);

/* Look at the file unless a process has looked at it: then the job was faster. A file that the job may change is looked
 * at when it is opened. */
static void look_ahead_at(const struct looker *self, struct tfd_redirected *file)
{
    if (atomic_load(tfd_redirect_table_last_look(file)))
        return;
    int64_t begin_ns = tfd_clock_ns(CLOCK_BOOTTIME);
    if (look(file, 0, begin_ns))
        atomic_fetch_add(&tfd_redirect_table_counts(self->table)->ahead, 1);
    if (tfd_clock_ns(CLOCK_BOOTTIME) - begin_ns > SLOW_LOOK_NS)
        add_looker(self);
}

static bool goes_on(const struct looker *self)
{
    return !atomic_load(&tfd_redirect_table_ahead(self->table)->stopped) &&
           tfd_clock_ns(CLOCK_BOOTTIME) < self->until_ns;
}

/* Otherwise the reader of a pipe that the job writes would wait for this process too. */
static void close_all(void)
{
    if (!syscall(SYS_close_range, 0, ~0u, 0))
        return;
    for (int fd = 0; fd < MOST_DESCRIPTORS; fd++)
        syscall(SYS_close, fd);
}

/* The priority stays: a look holds the lock of its folder, and an open of the job may wait for that. */
static _Noreturn void look_ahead(const struct looker *self, pid_t parent)
{
    struct tfd_redirected *file;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "tfd-look");
    close_all();
    syscall(SYS_chdir, "/");
    if (syscall(SYS_getppid) == parent)
        while (goes_on(self) && (file = take_next(self->table)))
            look_ahead_at(self, file);
    while (syscall(SYS_wait4, -1, NULL, __WALL, NULL) > 0)
        ;
    syscall(SYS_exit_group, 0);
    __builtin_unreachable();
}

/* This clones without the handlers of fork(3), which begin a recording, and without a signal at the child's end, so
 * that wait(2) finds only the program's own children. The child needs no stack of its own. Signals stay blocked in
 * it, since their handlers are the job's. */
static void add_looker(const struct looker *self)
{
    _Atomic int32_t *lookers = &tfd_redirect_table_ahead(self->table)->lookers;
    if (atomic_load(lookers) >= self->most || atomic_fetch_add(lookers, 1) >= self->most)
        return;
    sigset_t all, before;
    sigfillset(&all);
    pid_t parent = (pid_t)syscall(SYS_getpid);
    sigprocmask(SIG_SETMASK, &all, &before);
    if (!syscall(SYS_clone, 0L, NULL, NULL, NULL, 0L))
        look_ahead(self, parent);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

void tfd_look_ahead_start(const struct tfd_redirect_table *table, int32_t most, int64_t for_ns)
{
    struct looker first = {table, most, tfd_clock_ns(CLOCK_BOOTTIME) + for_ns};
    atomic_store(&tfd_redirect_table_ahead(table)->next, tfd_redirect_table_first(table));
    add_looker(&first);
}

void tfd_look_ahead_stop(const struct tfd_redirect_table *table)
{
    atomic_store(&tfd_redirect_table_ahead(table)->stopped, 1);
}
