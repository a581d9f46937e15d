#define _GNU_SOURCE
#include "wrappers/redirect_table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/path_room.h"
#include "base/plain_path.h"
#include "base/plain_path.h"
#include "base/shared_file.h"
#include "spool/path_hash.h"

#define SHARED_NAME "staged"
#define RECORD_UNIT _Alignof(struct tfd_redirected)

/* A place of the hash table: a file's record in units of its alignment, 0 if free, and a part of its hash. */
struct place {
    uint32_t record, tag;
};

/* The first page. The checks of the originals follow on the next pages, and all processes share both. Then come the
 * places and the records, which each process maps privately. All of it is one range of addresses, so that a record
 * finds the rest. */
struct head {
    struct tfd_redirect_counts counts;
    struct tfd_look_ahead ahead;
    uint64_t file_count, place_count, record_units;
    uint64_t looks_offset;
    int64_t trusted_ns;
};

struct tfd_redirect_table {
    struct head *head;
    struct tfd_redirected *records;
    struct place *places;
    size_t mask;
};

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* Return the size of the head and the checks, in whole pages. */
static size_t shared_bytes(const struct head *size)
{
    size_t page = page_bytes();
    return page + (size->file_count * sizeof(int64_t) + page - 1) / page * page;
}

static size_t all_bytes(const struct head *size)
{
    return shared_bytes(size) + size->place_count * sizeof(struct place) + size->record_units * RECORD_UNIT;
}

/* Return a record's size in units. The first unit stays empty, so that 0 means no record. */
static size_t record_units(const char *original, const char *copy)
{
    size_t bytes = sizeof(struct tfd_redirected) + strlen(original) + strlen(copy) + 2;
    return (bytes + RECORD_UNIT - 1) / RECORD_UNIT;
}

static struct head size_of(const struct tfd_staged_file *files, size_t count, int64_t trusted_ns)
{
    struct head size = {.file_count = count,
                        .place_count = 16,
                        .record_units = 1,
                        .looks_offset = page_bytes(),
                        .trusted_ns = trusted_ns};
    for (size_t i = 0; i < count; i++)
        size.record_units += record_units(files[i].original, files[i].copy);
    while (size.place_count < 2 * count)
        size.place_count *= 2;
    return size;
}

static struct tfd_redirected *record_at(const struct tfd_redirect_table *table, uint32_t record)
{
    return (void *)((char *)table->records + record * RECORD_UNIT);
}

static void enter(struct tfd_redirect_table *table, uint32_t at, size_t number,
                  const struct tfd_staged_file *from)
{
    struct tfd_redirected *record = record_at(table, at);
    record->number = number;
    record->offset = (uint64_t)((char *)record - (char *)table->head);
    record->size = from->size;
    record->original_mtime_ns = from->original_mtime_ns;
    record->copy_mtime_ns = from->copy_mtime_ns;
    record->original_length = strlen(from->original);
    strcpy(stpcpy(record->names, from->original) + 1, from->copy);
    uint64_t hash = tfd_path_hash(record->names, record->original_length);
    size_t place = hash & table->mask;
    while (table->places[place].record)
        place = (place + 1) & table->mask;
    table->places[place] = (struct place){at, (uint32_t)(hash >> 32)};
}

static void enter_all(struct tfd_redirect_table *table, const struct tfd_staged_file *files, size_t count)
{
    uint32_t at = 1;
    for (size_t i = 0; i < count; i++) {
        enter(table, at, i, &files[i]);
        at += (uint32_t)record_units(files[i].original, files[i].copy);
    }
}

/* Map a file, or memory if `fd` is -1, at an address, or anywhere if `at` is NULL; return NULL if that fails. */
static void *map(void *at, int fd, int sharing, size_t bytes)
{
    int flags = sharing | (fd < 0 ? MAP_ANONYMOUS : 0) | (at ? MAP_FIXED : 0);
    void *mapped = mmap(at, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
    return mapped == MAP_FAILED ? NULL : mapped;
}

/* Map the table: everything shared, or what follows the checks privately, so that changes do not reach the file. */
static bool map_all(struct tfd_redirect_table *table, int fd, const struct head *size, int sharing_of_body)
{
    char *begin = map(NULL, fd, sharing_of_body, all_bytes(size));
    table->head = (void *)begin;
    if (!begin || !map(begin, fd, MAP_SHARED, shared_bytes(size)))
        return false;
    table->places = (void *)(begin + shared_bytes(size));
    table->records = (void *)(table->places + size->place_count);
    table->mask = size->place_count - 1;
    return true;
}

static void discard(struct tfd_redirect_table *table, const struct head *size)
{
    if (table->head)
        munmap(table->head, all_bytes(size));
    free(table);
}

static bool fill(struct tfd_redirect_table *table, int fd, const struct head *size,
                 const struct tfd_staged_file *files, size_t count)
{
    if (!map_all(table, fd, size, fd < 0 ? MAP_PRIVATE : MAP_SHARED))
        return false;
    *table->head = *size;
    enter_all(table, files, count);
    if (fd < 0)
        return true;
    munmap(table->head, all_bytes(size));
    return map_all(table, fd, size, MAP_PRIVATE);
}

static struct tfd_redirect_table *make_in(int fd, const struct head *size,
                                          const struct tfd_staged_file *files, size_t count)
{
    struct tfd_redirect_table *table = calloc(1, sizeof *table);
    if (!table)
        return NULL;
    if (fill(table, fd, size, files, count))
        return table;
    discard(table, size);
    errno = ENOMEM;
    return NULL;
}

static struct tfd_redirect_table *make_shared(const char *directory, const struct head *size,
                                              const struct tfd_staged_file *files, size_t count)
{
    int fd = tfd_shared_file_make(directory, SHARED_NAME, all_bytes(size));
    if (fd < 0) {
        errno = -fd;
        return NULL;
    }
    struct tfd_redirect_table *table = make_in(fd, size, files, count);
    int error = table ? -tfd_shared_file_publish(directory, SHARED_NAME) : errno;
    close(fd);
    if (!error)
        return table;
    tfd_shared_file_remove(directory, SHARED_NAME);
    errno = error;
    return NULL;
}

struct tfd_redirect_table *tfd_redirect_table_make(const char *directory, const struct tfd_staged_file *files,
                                                   size_t count, int64_t trusted_ns)
{
    struct head size = size_of(files, count, trusted_ns);
    if (size.record_units > UINT32_MAX) {
        errno = ENOMEM;
        return NULL;
    }
    return directory ? make_shared(directory, &size, files, count) : make_in(-1, &size, files, count);
}

static bool is_whole(const struct head *size, size_t bytes)
{
    uint64_t places = size->place_count;
    return places && !(places & (places - 1)) && places < bytes && size->record_units < bytes &&
           size->file_count < places && size->looks_offset == page_bytes() && bytes == all_bytes(size);
}

static bool read_head(int fd, struct head *size)
{
    return syscall(SYS_pread64, fd, size, sizeof *size, 0L) == (long)sizeof *size;
}

static struct tfd_redirect_table *take_up(int fd, size_t bytes)
{
    struct head size;
    if (!read_head(fd, &size) || !is_whole(&size, bytes))
        return NULL;
    struct tfd_redirect_table *table = calloc(1, sizeof *table);
    if (!table)
        return NULL;
    if (map_all(table, fd, &size, MAP_PRIVATE))
        return table;
    discard(table, &size);
    return NULL;
}

struct tfd_redirect_table *tfd_redirect_table_take_up(const char *directory)
{
    size_t bytes;
    int fd = tfd_shared_file_open(directory, SHARED_NAME, &bytes);
    if (fd < 0)
        return NULL;
    struct tfd_redirect_table *table = take_up(fd, bytes);
    close(fd);
    return table;
}

void tfd_redirect_table_withdraw(const char *directory)
{
    tfd_shared_file_remove(directory, SHARED_NAME);
}

struct tfd_redirect_counts *tfd_redirect_table_counts(const struct tfd_redirect_table *table)
{
    return &table->head->counts;
}

uint32_t tfd_redirect_table_first(const struct tfd_redirect_table *table)
{
    return table->head->file_count ? 1 : 0;
}

struct tfd_redirected *tfd_redirect_table_at(const struct tfd_redirect_table *table, uint32_t at,
                                             uint32_t *next)
{
    struct tfd_redirected *file = record_at(table, at);
    uint64_t after = at + record_units(file->names, file->names + file->original_length + 1);
    *next = after < table->head->record_units ? (uint32_t)after : 0;
    return file;
}

struct tfd_look_ahead *tfd_redirect_table_ahead(const struct tfd_redirect_table *table)
{
    return &table->head->ahead;
}

static struct head *head_of(const struct tfd_redirected *file)
{
    return (void *)((char *)file - file->offset);
}

_Atomic int64_t *tfd_redirect_table_last_look(struct tfd_redirected *file)
{
    struct head *head = head_of(file);
    _Atomic int64_t *looks = (void *)((char *)head + head->looks_offset);
    return &looks[file->number];
}

int64_t tfd_redirect_table_trusted_ns(const struct tfd_redirected *file)
{
    return head_of(file)->trusted_ns;
}

static struct tfd_redirected *look_up(const struct tfd_redirect_table *table, const char *path, size_t length)
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

static bool is_one_folder(const char *path, const char *other)
{
    struct stat found, found_other;
    return !syscall(SYS_newfstatat, AT_FDCWD, path, &found, 0) &&
           !syscall(SYS_newfstatat, AT_FDCWD, other, &found_other, 0) && found.st_dev == found_other.st_dev &&
           found.st_ino == found_other.st_ino;
}

/* Return false if a link leads elsewhere than the name without the components before ".." says. */
static bool leads_there(const struct plain_path *plain, const char *path)
{
    char *begin = plain->name + plain->length + 1, next = plain->name[plain->folder];
    if (!plain->climbed)
        return true;
    if (plain->length + plain->climbed + 2 > TFD_PATH_ROOM_BYTES)
        return false;
    memcpy(begin, path, plain->climbed);
    begin[plain->climbed] = '\0';
    plain->name[plain->folder] = '\0';
    bool same = is_one_folder(begin, plain->folder ? plain->name : "/");
    plain->name[plain->folder] = next;
    return same;
}

/* A path that ends so opens no file. */
static bool names_folder(const char *path, size_t length)
{
    return length && (path[length - 1] == '/' || (length > 1 && !strcmp(path + length - 2, "/.")));
}

/* Write the current folder's path to a room, without the "/" of the root; return its length, -1 if it is unknown. The
 * C library's function may look through folders. */
static ssize_t write_current_folder(char *room)
{
    long bytes = syscall(SYS_getcwd, room, TFD_PATH_ROOM_BYTES);
    if (bytes < 2 || room[0] != '/')
        return -1;
    return bytes == 2 ? 0 : bytes - 1;
}

/* Write a path as plans name files to a room; its length is 0 if it is too long or unknown. */
static struct plain_path write_plain(const char *path, char *room)
{
    struct plain_path plain = {.name = room};
    ssize_t below = path[0] == '/' ? 0 : write_current_folder(room);
    if (below < 0 || (size_t)below + 1 + strlen(path) >= TFD_PATH_ROOM_BYTES)
        return plain;
    plain.length = (size_t)below;
    tfd_plain_path_append(&plain, path);
    return plain;
}

static struct tfd_redirected *look_up_spelled_otherwise(const struct tfd_redirect_table *table,
                                                        const char *path, size_t length)
{
    if (names_folder(path, length))
        return NULL;
    struct plain_path plain = write_plain(path, tfd_path_room_take());
    struct tfd_redirected *file = plain.length ? look_up(table, plain.name, plain.length) : NULL;
    if (file && !leads_there(&plain, path))
        file = NULL;
    tfd_path_room_return(plain.name);
    return file;
}

struct tfd_redirected *tfd_redirect_table_find(const struct tfd_redirect_table *table, const char *path)
{
    size_t length = strlen(path);
    bool is_plain = path[0] == '/' && !strstr(path, "//") && !strstr(path, "/./") && !strstr(path, "/../");
    return is_plain ? look_up(table, path, length) : look_up_spelled_otherwise(table, path, length);
}

void tfd_redirect_table_no_look_holds_below(const struct tfd_redirect_table *table, const char *folder)
{
    struct plain_path plain = write_plain(folder, tfd_path_room_take());
    for (uint32_t at = plain.length ? tfd_redirect_table_first(table) : 0; at;) {
        struct tfd_redirected *file = tfd_redirect_table_at(table, at, &at);
        if (file->original_length > plain.length && file->names[plain.length] == '/' &&
            !memcmp(file->names, plain.name, plain.length))
            atomic_store(tfd_redirect_table_last_look(file), TFD_NO_LOOK_HOLDS);
    }
    tfd_path_room_return(plain.name);
}
