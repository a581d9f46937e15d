#define _GNU_SOURCE
#include "redirect.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "error.h"
#include "tfdarshan.h"

/* Opens that make, change or do not read the file itself go to the original. */
#define NOT_FOR_COPIES (O_ACCMODE | O_CREAT | O_TRUNC | O_DIRECTORY | O_PATH | O_NOFOLLOW)

struct tfd_redirected {
    char *original, *copy;
    uint64_t hash;
    int64_t size, original_mtime_ns, copy_mtime_ns;
};

/* Never changes once it is published, and is never freed: a thread may be looking at it. */
struct table {
    struct tfd_redirected *files;
    uint32_t *places; /* by hash, 0 or 1 + the file's index */
    size_t mask, count, cwd_length;
    char *cwd; /* relative paths are looked up below it, as long as it is the current one */
    dev_t cwd_device;
    ino_t cwd_inode;
};

static struct table *_Atomic published;
static _Atomic uint64_t copies_opened, copies_missing, copies_stale;

static uint64_t hash_on(uint64_t hash, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3u;
    return hash;
}

#define HASH_START 0xcbf29ce484222325u

static void discard(struct table *table)
{
    for (size_t i = 0; table->files && i < table->count; i++) {
        free(table->files[i].original);
        free(table->files[i].copy);
    }
    free(table->files);
    free(table->places);
    free(table->cwd);
    free(table);
}

static void enter(struct table *table, size_t index)
{
    size_t place = table->files[index].hash & table->mask;
    while (table->places[place])
        place = (place + 1) & table->mask;
    table->places[place] = (uint32_t)index + 1;
}

static bool fill(struct table *table, const struct tfd_staged_file *staged, size_t count)
{
    size_t places = 16;
    while (places < 2 * count)
        places *= 2;
    table->mask = places - 1;
    table->files = calloc(count ? count : 1, sizeof *table->files);
    table->places = calloc(places, sizeof *table->places);
    table->cwd = getcwd(NULL, 0);
    if (!table->files || !table->places)
        return false;
    struct stat cwd;
    if (table->cwd && !stat(".", &cwd)) {
        table->cwd_length = strlen(table->cwd);
        table->cwd_device = cwd.st_dev;
        table->cwd_inode = cwd.st_ino;
    }
    for (; table->count < count; table->count++) {
        struct tfd_redirected *file = &table->files[table->count];
        const struct tfd_staged_file *from = &staged[table->count];
        file->original = strdup(from->original);
        file->copy = strdup(from->copy);
        if (!file->original || !file->copy) {
            table->count++;
            return false;
        }
        file->hash = hash_on(HASH_START, file->original, strlen(file->original));
        file->size = from->size;
        file->original_mtime_ns = from->original_mtime_ns;
        file->copy_mtime_ns = from->copy_mtime_ns;
        enter(table, table->count);
    }
    return true;
}

int tfd_redirect_start(const struct tfd_staged_file *files, size_t count)
{
    if (atomic_load(&published))
        return tfd_fail(EBUSY, "staged files are in use in this process already");
    struct table *table = count < UINT32_MAX ? calloc(1, sizeof *table) : NULL;
    if (!table || !fill(table, files, count)) {
        if (table)
            discard(table);
        return tfd_fail(ENOMEM, "there is no memory for the names of %zu staged files", count);
    }
    atomic_store(&copies_opened, 0);
    atomic_store(&copies_missing, 0);
    atomic_store(&copies_stale, 0);
    atomic_store(&published, table);
    return 0;
}

void tfd_redirect_stop(void)
{
    atomic_store(&published, NULL);
}

void tfd_redirect_totals(struct tfd_redirect_totals *totals)
{
    totals->copies = atomic_load(&copies_opened);
    totals->missing = atomic_load(&copies_missing);
    totals->stale = atomic_load(&copies_stale);
}

static bool is_in_cwd(const struct table *table)
{
    struct stat now;
    return table->cwd_length && !syscall(SYS_newfstatat, AT_FDCWD, ".", &now, 0) &&
           now.st_dev == table->cwd_device && now.st_ino == table->cwd_inode;
}

static const struct tfd_redirected *look_up(const struct table *table, const char *prefix,
                                            size_t prefix_length, const char *name)
{
    uint64_t hash = hash_on(HASH_START, prefix, prefix_length);
    if (prefix_length)
        hash = hash_on(hash, "/", 1);
    hash = hash_on(hash, name, strlen(name));
    size_t skipped = prefix_length ? prefix_length + 1 : 0;
    for (size_t place = hash & table->mask; table->places[place]; place = (place + 1) & table->mask) {
        const struct tfd_redirected *file = &table->files[table->places[place] - 1];
        if (file->hash == hash && !strncmp(file->original, prefix, prefix_length) &&
            strlen(file->original) > skipped && !strcmp(file->original + skipped, name))
            return file;
    }
    return NULL;
}

const struct tfd_redirected *tfd_redirect_find(const char *path, int flags)
{
    const struct table *table = atomic_load_explicit(&published, memory_order_acquire);
    if (!table || (flags & NOT_FOR_COPIES) != O_RDONLY || !path)
        return NULL;
    if (path[0] == '/')
        return look_up(table, "", 0, path);
    int saved_errno = errno;
    if (path[0] == '.' && path[1] == '/')
        path += 2;
    const struct tfd_redirected *file =
        is_in_cwd(table) ? look_up(table, table->cwd, table->cwd_length, path) : NULL;
    errno = saved_errno;
    return file;
}

const char *tfd_redirect_copy(const struct tfd_redirected *file)
{
    return file->copy;
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
                !syscall(SYS_newfstatat, AT_FDCWD, file->original, &original, 0) &&
                is_as(&original, file->size, file->original_mtime_ns);
    atomic_fetch_add_explicit(good    ? &copies_opened
                              : there ? &copies_stale
                                      : &copies_missing,
                              1, memory_order_relaxed);
    errno = saved_errno;
    return good;
}
