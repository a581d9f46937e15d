#define _GNU_SOURCE
#include "wrappers/redirect.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "base/path_room.h"
#include "spool/path_hash.h"
#include "tfdarshan.h"

/* Opens that make, change or do not read the file itself go to the original. */
#define NOT_FOR_COPIES (O_ACCMODE | O_CREAT | O_TRUNC | O_DIRECTORY | O_PATH | O_NOFOLLOW)

/* Followed by the two names, each with its NUL: what an open needs lies together. */
struct tfd_redirected {
    int64_t size, original_mtime_ns, copy_mtime_ns;
    _Atomic uint64_t copy_kept; /* which file the recorder knows the copy as */
    size_t original_length;
    char names[];
};

/* Where a file's record is, in units of its alignment, or 0; and enough of its hash to pass others by. */
struct place {
    uint32_t record, tag;
};

/* Only `copy_kept` changes once it is published. It is never freed: a thread may be looking at it. */
struct table {
    struct tfd_redirected *records;
    struct place *places;
    size_t mask, used, cwd_length;
    char *cwd; /* relative paths are looked up below it, as long as it is the current one */
    dev_t cwd_device;
    ino_t cwd_inode;
};

static struct table *_Atomic published;

/* Forked children count in the same page; like a table, it is never given back. */
struct counts {
    _Atomic uint64_t copies, missing, stale;
};
static struct counts *_Atomic counts;

#define RECORD_UNIT _Alignof(struct tfd_redirected)

/* In units; a first one stays empty, so that 0 is no record. */
static size_t record_units(const struct tfd_staged_file *file)
{
    size_t bytes = sizeof(struct tfd_redirected) + strlen(file->original) + strlen(file->copy) + 2;
    return (bytes + RECORD_UNIT - 1) / RECORD_UNIT;
}

static struct tfd_redirected *record_at(const struct table *table, uint32_t record)
{
    return (void *)((char *)table->records + record * RECORD_UNIT);
}

static void discard(struct table *table)
{
    free(table->records);
    free(table->places);
    free(table->cwd);
    free(table);
}

static void enter(struct table *table, const struct tfd_staged_file *from)
{
    struct tfd_redirected *record = record_at(table, (uint32_t)table->used);
    record->size = from->size;
    record->original_mtime_ns = from->original_mtime_ns;
    record->copy_mtime_ns = from->copy_mtime_ns;
    atomic_init(&record->copy_kept, 0);
    record->original_length = strlen(from->original);
    strcpy(stpcpy(record->names, from->original) + 1, from->copy);
    uint64_t hash = tfd_path_hash(record->names, record->original_length);
    size_t at = hash & table->mask;
    while (table->places[at].record)
        at = (at + 1) & table->mask;
    table->places[at] = (struct place){(uint32_t)table->used, (uint32_t)(hash >> 32)};
    table->used += record_units(from);
}

static bool allocate(struct table *table, const struct tfd_staged_file *files, size_t count)
{
    size_t units = 1, places = 16;
    for (size_t i = 0; i < count; i++)
        units += record_units(&files[i]);
    while (places < 2 * count)
        places *= 2;
    if (units > UINT32_MAX)
        return false;
    table->used = 1;
    table->mask = places - 1;
    table->records = malloc(units * RECORD_UNIT);
    table->places = calloc(places, sizeof *table->places);
    return table->records && table->places;
}

static void remember_cwd(struct table *table)
{
    struct stat cwd;
    table->cwd = getcwd(NULL, 0);
    if (table->cwd && !stat(".", &cwd)) {
        table->cwd_length = strlen(table->cwd);
        table->cwd_device = cwd.st_dev;
        table->cwd_inode = cwd.st_ino;
    }
}

static struct counts *shared_counts(void)
{
    void *page = mmap(NULL, sizeof(struct counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return page == MAP_FAILED ? NULL : page;
}

int tfd_redirect_start(const struct tfd_staged_file *files, size_t count)
{
    if (atomic_load(&published))
        return tfd_fail(EBUSY, "staged files are in use in this process already");
    struct table *table = calloc(1, sizeof *table);
    struct counts *counted = table && allocate(table, files, count) ? shared_counts() : NULL;
    if (!counted) {
        if (table)
            discard(table);
        return tfd_fail(ENOMEM, "there is no memory for the names of %zu staged files", count);
    }
    for (size_t i = 0; i < count; i++)
        enter(table, &files[i]);
    remember_cwd(table);
    atomic_store(&counts, counted);
    atomic_store(&published, table);
    return 0;
}

void tfd_redirect_stop(void)
{
    atomic_store(&published, NULL);
}

void tfd_redirect_totals(struct tfd_redirect_totals *totals)
{
    struct counts *counted = atomic_load(&counts);
    *totals = (struct tfd_redirect_totals){0};
    if (counted) {
        totals->copies = atomic_load(&counted->copies);
        totals->missing = atomic_load(&counted->missing);
        totals->stale = atomic_load(&counted->stale);
    }
}

static bool is_in_cwd(const struct table *table)
{
    struct stat now;
    return table->cwd_length && !syscall(SYS_newfstatat, AT_FDCWD, ".", &now, 0) &&
           now.st_dev == table->cwd_device && now.st_ino == table->cwd_inode;
}

static struct tfd_redirected *look_up(const struct table *table, const char *path, size_t length)
{
    uint64_t hash = tfd_path_hash(path, length);
    for (size_t at = hash & table->mask; table->places[at].record; at = (at + 1) & table->mask) {
        if (table->places[at].tag != (uint32_t)(hash >> 32))
            continue;
        struct tfd_redirected *file = record_at(table, table->places[at].record);
        if (file->original_length == length && !memcmp(file->names, path, length))
            return file;
    }
    return NULL;
}

static struct tfd_redirected *look_up_below_cwd(const struct table *table, const char *name)
{
    if (name[0] == '.' && name[1] == '/')
        name += 2;
    size_t length = table->cwd_length + 1 + strlen(name);
    if (length >= TFD_PATH_ROOM_BYTES || !is_in_cwd(table))
        return NULL;
    char *path = tfd_path_room_take();
    memcpy(path, table->cwd, table->cwd_length);
    path[table->cwd_length] = '/';
    strcpy(path + table->cwd_length + 1, name);
    struct tfd_redirected *file = look_up(table, path, length);
    tfd_path_room_return(path);
    return file;
}

struct tfd_redirected *tfd_redirect_find(const char *path, int flags)
{
    const struct table *table = atomic_load_explicit(&published, memory_order_acquire);
    if (!table || (flags & NOT_FOR_COPIES) != O_RDONLY || !path)
        return NULL;
    if (path[0] == '/')
        return look_up(table, path, strlen(path));
    int saved_errno = errno;
    struct tfd_redirected *file = look_up_below_cwd(table, path);
    errno = saved_errno;
    return file;
}

const char *tfd_redirect_copy(const struct tfd_redirected *file)
{
    return file->names + file->original_length + 1;
}

_Atomic uint64_t *tfd_redirect_kept(struct tfd_redirected *file)
{
    return &file->copy_kept;
}

static bool is_as(const struct stat *found, int64_t size, int64_t mtime_ns)
{
    return S_ISREG(found->st_mode) && found->st_size == size &&
           (int64_t)found->st_mtim.tv_sec * 1000000000 + found->st_mtim.tv_nsec == mtime_ns;
}

/* Raw system calls: the C library's functions may be hooked, and these calls are not the program's. */
bool tfd_redirect_is_good(const struct tfd_redirected *file, int fd)
{
    int saved_errno = errno;
    struct stat copy, original;
    bool there = fd >= 0 && !syscall(SYS_fstat, fd, &copy);
    bool good = there && is_as(&copy, file->size, file->copy_mtime_ns) &&
                !syscall(SYS_newfstatat, AT_FDCWD, file->names, &original, 0) &&
                is_as(&original, file->size, file->original_mtime_ns);
    struct counts *counted = atomic_load_explicit(&counts, memory_order_relaxed);
    atomic_fetch_add_explicit(good    ? &counted->copies
                              : there ? &counted->stale
                                      : &counted->missing,
                              1, memory_order_relaxed);
    errno = saved_errno;
    return good;
}
