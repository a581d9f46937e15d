#define _GNU_SOURCE
#include "wrappers/redirect.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "recorder/session.h"
#include "tfdarshan.h"
#include "wrappers/original_look.h"
#include "wrappers/redirect_table.h"

/* Flags of opens that make or change the file, or do not read the file itself. These go to the original. */
#define NOT_FOR_COPIES (O_ACCMODE | O_CREAT | O_TRUNC | O_DIRECTORY | O_PATH | O_NOFOLLOW)
/* Flags of opens that may change the file. */
#define CHANGES (O_ACCMODE | O_CREAT | O_TRUNC)

static struct tfd_redirect_table *_Atomic published;
static struct tfd_redirect_table *joined; /* the table of the session that this process has joined */
static struct tfd_redirect_counts *_Atomic counts;
static int32_t offered_by; /* process that offered its table; 0: none */

static void publish(struct tfd_redirect_table *table)
{
    if (table)
        atomic_store(&counts, tfd_redirect_table_counts(table));
    atomic_store(&published, table);
}

/* Return the folder of the session that this process has begun, NULL if it has joined another's. */
static const char *own_session(void)
{
    bool is_own =
        tfd_session.active && tfd_session.follow_children && tfd_session.owner_pid == (int32_t)getpid();
    return is_own ? tfd_session.directory : NULL;
}

int tfd_redirect_start(const struct tfd_staged_file *files, size_t count, int64_t trusted_ns)
{
    if (atomic_load(&published) != joined)
        return tfd_fail(EBUSY, "staged files are in use in this process already");
    const char *folder = own_session();
    struct tfd_redirect_table *table =
        folder ? tfd_redirect_table_make(folder, files, count, trusted_ns) : NULL;
    int error = folder && !table ? errno : 0;
    offered_by = table ? (int32_t)getpid() : 0;
    if (!table)
        table = tfd_redirect_table_make(NULL, files, count, trusted_ns);
    if (!table)
        return tfd_fail(ENOMEM, "there is no memory for the names of %zu staged files", count);
    publish(table);
    if (!error)
        return TFD_REDIRECTED;
    tfd_fail(error, "the names of %zu staged files cannot be written to %s: %s", count, folder,
             strerror(error));
    return TFD_REDIRECTED_HERE_ONLY;
}

void tfd_redirect_look_ahead(int32_t most, int64_t for_ns)
{
    struct tfd_redirect_table *table = atomic_load(&published);
    if (table && table != joined)
        tfd_look_ahead_start(table, most, for_ns);
}

void tfd_redirect_stop(void)
{
    struct tfd_redirect_table *table = atomic_load(&published);
    if (table && table != joined)
        tfd_look_ahead_stop(table);
    if (offered_by == (int32_t)getpid())
        tfd_redirect_table_withdraw(tfd_session.directory);
    offered_by = 0;
    publish(joined);
}

void tfd_redirect_join(const char *directory)
{
    struct tfd_redirect_table *found = tfd_redirect_table_take_up(directory);
    bool is_own = atomic_load(&published) != joined;
    joined = found;
    if (!is_own)
        publish(found);
}

void tfd_redirect_totals(struct tfd_redirect_totals *totals)
{
    struct tfd_redirect_counts *counted = atomic_load(&counts);
    *totals = (struct tfd_redirect_totals){0};
    if (counted) {
        totals->copies = atomic_load(&counted->copies);
        totals->missing = atomic_load(&counted->missing);
        totals->stale = atomic_load(&counted->stale);
        totals->looked_ahead = atomic_load(&counted->ahead);
    }
}

static struct tfd_redirected *find(const char *path)
{
    const struct tfd_redirect_table *table = atomic_load_explicit(&published, memory_order_acquire);
    if (!table || !path)
        return NULL;
    int saved_errno = errno;
    struct tfd_redirected *file = tfd_redirect_table_find(table, path);
    errno = saved_errno;
    return file;
}

struct tfd_redirected *tfd_redirect_find(const char *path, int flags)
{
    if ((flags & NOT_FOR_COPIES) == O_RDONLY)
        return find(path);
    if (!(flags & O_PATH) && flags & CHANGES)
        tfd_redirect_changes(path);
    return NULL;
}

void tfd_redirect_changes(const char *path)
{
    struct tfd_redirected *file = find(path);
    if (file)
        atomic_store(tfd_redirect_table_last_look(file), TFD_NO_LOOK_HOLDS);
}

void tfd_redirect_changes_at(int dirfd, const char *path)
{
    if (dirfd == AT_FDCWD || (path && path[0] == '/'))
        tfd_redirect_changes(path);
}

static bool is_folder(int dirfd, const char *path)
{
    struct stat status;
    return path && !syscall(SYS_newfstatat, dirfd, path, &status, AT_SYMLINK_NOFOLLOW) &&
           S_ISDIR(status.st_mode);
}

static void changes_below(const struct tfd_redirect_table *table, int dirfd, const char *path)
{
    if (path && (dirfd == AT_FDCWD || path[0] == '/'))
        tfd_redirect_table_no_look_holds_below(table, path);
}

void tfd_redirect_renames(int old_dirfd, const char *old_path, int new_dirfd, const char *new_path)
{
    const struct tfd_redirect_table *table = atomic_load_explicit(&published, memory_order_acquire);
    if (!table)
        return;
    int saved_errno = errno;
    tfd_redirect_changes_at(old_dirfd, old_path);
    tfd_redirect_changes_at(new_dirfd, new_path);
    if (is_folder(old_dirfd, old_path)) {
        changes_below(table, old_dirfd, old_path);
        changes_below(table, new_dirfd, new_path);
    }
    errno = saved_errno;
}

const char *tfd_redirect_copy(const struct tfd_redirected *file)
{
    return file->names + file->original_length + 1;
}

_Atomic uint64_t *tfd_redirect_kept(struct tfd_redirected *file)
{
    return &file->copy_kept;
}

/* This uses a raw system call, since the C library's function may be hooked and the call is not the program's. */
static bool copy_is_as_made(const struct tfd_redirected *file, int fd)
{
    struct stat copy;
    return !syscall(SYS_fstat, fd, &copy) && tfd_is_regular_file_of(&copy, file->size, file->copy_mtime_ns);
}

bool tfd_redirect_is_good(struct tfd_redirected *file, int fd)
{
    int saved_errno = errno;
    bool there = fd >= 0;
    bool good = there && copy_is_as_made(file, fd) && tfd_original_holds(file);
    struct tfd_redirect_counts *counted = atomic_load_explicit(&counts, memory_order_relaxed);
    atomic_fetch_add_explicit(good    ? &counted->copies
                              : there ? &counted->stale
                                      : &counted->missing,
                              1, memory_order_relaxed);
    errno = saved_errno;
    return good;
}
