#define _GNU_SOURCE
#include "mapping/mappings.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/whole_file.h"
#include "job/job_page.h"
#include "mapping/mapped_files.h"
#include "mapping/mapping_lock.h"
#include "mapping/range_table.h"
#include "mapping/watched_process.h"
#include "recorder/emit.h"
#include "recorder/path_table.h"
#include "recorder/recorder_calls.h"
#include "recorder/recording.h"
#include "tfdarshan.h"

/* The session asks for mapped files. */
static _Atomic bool is_asked;
/* Only large mappings of files on storage count, and only in processes where one more thread changes nothing. */
static bool is_large_alone;
/* In a child of fork: the child has inherited mappings of files. */
static bool inherited;
static tfd_watch_file *watch_file;

static int64_t now_ns(void)
{
    return tfd_clock_ns(CLOCK_MONOTONIC);
}

static uintptr_t whole_pages(size_t length)
{
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    return (length + page_bytes - 1) & ~(page_bytes - 1);
}

/* Note that [start, start + length) maps the file from now on; return the file's entry. `*is_looked_at`: its pages are
 * watched already. */
static uint64_t add_mapping(uint32_t file, uintptr_t start, size_t length, int64_t offset,
                            const struct stat *status, bool *is_looked_at)
{
    struct tfd_spool *spool = &tfd_session.spool;
    bool is_new;
    *is_looked_at = false;
    tfd_mapping_lock();
    uint64_t entry = tfd_mapped_file_of(spool, file, &is_new);
    if (!entry) {
        tfd_mapped_files_count_left_out(spool);
    } else {
        struct tfd_mapped_file *mapped = tfd_mapped_file_at(spool, entry);
        *is_looked_at = mapped->held && mapped->inode == status->st_ino && mapped->device == status->st_dev;
        mapped->device = status->st_dev;
        mapped->inode = status->st_ino;
        mapped->mappings++;
        mapped->mapped_bytes += length;
        struct tfd_range range = {start, start + whole_pages(length), offset, now_ns(), 0, entry};
        /* older mappings there, whose end was missed */
        tfd_ranges_end(range.start, range.end, range.begin_ns);
        if (!tfd_ranges_add(&range))
            tfd_mapped_files_of(spool)->ranges_lost++;
    }
    tfd_mapping_unlock();
    return entry;
}

static bool is_of_interest(size_t length)
{
    return atomic_load(&is_asked) && (!is_large_alone || length >= TFD_MAPPED_LARGE_BYTES);
}

/* This asks the process each time, since it may have started threads. */
static bool may_be_watched(const struct statfs *where)
{
    return !is_large_alone || (!tfd_is_in_memory(where) && tfd_may_add_thread());
}

void tfd_mapping_made(void *address, size_t length, int fd, off_t offset)
{
    if (!is_of_interest(length))
        return;
    int saved_errno = errno;
    struct stat status;
    struct statfs where;
    uint32_t file = tfd_file_of_descriptor(fd);
    bool is_watched = file && !fstat(fd, &status) && S_ISREG(status.st_mode) && !fstatfs(fd, &where) &&
                      may_be_watched(&where);
    struct tfd_slot *slot = is_watched ? tfd_enter(0, 0) : NULL;
    if (slot) {
        bool is_looked_at;
        uint64_t entry = add_mapping(file, (uintptr_t)address, length, offset, &status, &is_looked_at);
        if (entry && !is_looked_at)
            watch_file(entry, fd);
        tfd_leave(slot);
    }
    errno = saved_errno;
}

static bool concerns(const void *address, size_t length)
{
    uintptr_t start = (uintptr_t)address;
    return tfd_ranges_may_touch(start, start + length) && atomic_load(&tfd_shared->generation);
}

/* The thread of a signal handler may hold the lock already, so there nothing can be changed. */
static struct tfd_slot *enter(void)
{
    bool interrupted = tfd_is_interrupted();
    struct tfd_slot *slot = tfd_enter(0, 0);
    if (!slot && interrupted)
        tfd_ranges_distrust();
    return slot;
}

/* A call whose address is not that of a page will fail. */
void tfd_mapping_ending(void *address, size_t length)
{
    uintptr_t start = (uintptr_t)address;
    if (!concerns(address, length) || start % whole_pages(1))
        return;
    int saved_errno = errno;
    struct tfd_slot *slot = enter();
    if (slot) {
        tfd_mapping_lock();
        tfd_ranges_end(start, start + whole_pages(length), now_ns());
        tfd_mapping_unlock();
        tfd_leave(slot);
    }
    errno = saved_errno;
}

struct tfd_range tfd_mapping_moving(void *from, size_t old_size)
{
    struct tfd_range found = {0};
    uintptr_t start = (uintptr_t)from;
    if (!concerns(from, old_size ? old_size : 1) || start % whole_pages(1))
        return found;
    int saved_errno = errno;
    struct tfd_slot *slot = enter();
    if (slot) {
        tfd_mapping_lock();
        found = tfd_ranges_live_at(start);
        tfd_ranges_end(start, start + whole_pages(old_size), now_ns());
        tfd_mapping_unlock();
        tfd_leave(slot);
    }
    errno = saved_errno;
    return found;
}

void tfd_mapping_moved(const struct tfd_range *moving, void *to, size_t new_size)
{
    int saved_errno = errno;
    struct tfd_slot *slot = moving->file || concerns(to, new_size) ? enter() : NULL;
    if (slot) {
        struct tfd_range range = *moving;
        range.start = (uintptr_t)to;
        range.end = range.start + whole_pages(new_size);
        tfd_mapping_lock();
        range.begin_ns = now_ns();
        tfd_ranges_end(range.start, range.end, range.begin_ns);
        if (range.file && range.end > range.start && !tfd_ranges_add(&range))
            tfd_mapped_files_of(&tfd_session.spool)->ranges_lost++;
        tfd_mapping_unlock();
        tfd_leave(slot);
    }
    errno = saved_errno;
}

/* ---- files that were mapped before the session ---- */

struct line {
    uintptr_t start, end;
    unsigned long long offset, inode;
    unsigned major, minor;
    bool executable;
    const char *path;
    size_t path_length;
};

static const char *end_of_line(const char *text)
{
    const char *end = strchr(text, '\n');
    return end ? end : text + strlen(text);
}

static const char *next_line(const char *text)
{
    const char *end = end_of_line(text);
    return end + (*end == '\n');
}

/* Parse a line of /proc/pid/maps, proc(5); return false if it names no file. */
static bool parse(const char *text, struct line *line)
{
    char permissions[5] = "", start[128]; /* a copy: sscanf() measures all of its text */
    int name = 0;
    const char *end = end_of_line(text);
    *line = (struct line){0};
    snprintf(start, sizeof start, "%.*s", (int)(end - text), text);
    if (sscanf(start, "%lx-%lx %4s %llx %x:%x %llu %n", &line->start, &line->end, permissions, &line->offset,
               &line->major, &line->minor, &line->inode, &name) < 7)
        return false;
    line->executable = strchr(permissions, 'x');
    line->path = text + name;
    line->path_length = line->path < end ? (size_t)(end - line->path) : 0;
    return line->inode && line->path_length && *line->path == '/';
}

static bool is_of_same_file(const struct line *one, const struct line *other)
{
    return one->inode == other->inode && one->major == other->major && one->minor == other->minor;
}

/* Return true for files that the C library and others map at a program's start, such as locales. */
static bool is_of_system(const char *path)
{
    static const char *const folders[] = {"/usr/",    "/lib/", "/lib32/",    "/lib64/",
                                          "/libx32/", "/etc/", "/var/cache/"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (!strncmp(path, folders[i], strlen(folders[i])))
            return true;
    return false;
}

/* Return true for the page that this library and the library for late joins map themselves. */
static bool is_job_page(const struct line *line)
{
    char prefix[96];
    size_t length = tfd_job_page_prefix(prefix, sizeof prefix);
    const char *name = memrchr(line->path, '/', line->path_length) + 1;
    return (size_t)(line->path + line->path_length - name) > length && !memcmp(name, prefix, length);
}

/* Some file systems have another device number in the kernel's list than in stat(2), so this compares inodes only. */
static uint32_t file_of_line(const struct line *line, struct stat *status, struct statfs *where)
{
    static char path[4096 + 16]; /* static: a session begins under a lock, and a child has one thread */
    size_t own = strlen(tfd_session.directory);
    if (line->path_length >= sizeof path || is_of_system(line->path) || is_job_page(line) ||
        !strncmp(line->path, tfd_session.directory, own))
        return TFD_FILE_NONE;
    memcpy(path, line->path, line->path_length);
    path[line->path_length] = '\0';
    if (stat(path, status) || !S_ISREG(status->st_mode) || status->st_ino != line->inode ||
        statfs(path, where) || !may_be_watched(where))
        return TFD_FILE_NONE;
    int cancel_state = tfd_tables_lock_take();
    tfd_target target = tfd_path_target(&tfd_session.spool, AT_FDCWD, path);
    tfd_tables_lock_give(cancel_state);
    return target & TFD_OTHER_BIT ? TFD_FILE_NONE : target;
}

static void add_line(const struct line *line)
{
    struct stat status;
    struct statfs where;
    uint32_t file =
        is_of_interest(line->end - line->start) ? file_of_line(line, &status, &where) : TFD_FILE_NONE;
    bool is_looked_at;
    uint64_t entry = !file ? 0
                           : add_mapping(file, line->start, line->end - line->start, (int64_t)line->offset,
                                         &status, &is_looked_at);
    if (entry && !is_looked_at)
        watch_file(entry, -1);
}

/* A loaded library has several mappings in a row, one of them executable. None of these is data. */
static const char *end_of_file(const char *text, const struct line *first, bool *is_code)
{
    struct line line;
    for (*is_code = false; *text && parse(text, &line) && is_of_same_file(first, &line);
         text = next_line(text))
        *is_code |= line.executable;
    return text;
}

static void add_mapped_already(void)
{
    char *text = tfd_read_whole("/proc/self/maps");
    for (const char *at = text; at && *at;) {
        struct line line;
        bool is_code;
        if (!parse(at, &line)) {
            at = next_line(at);
            continue;
        }
        const char *end = end_of_file(at, &line, &is_code);
        for (; at < end; at = next_line(at))
            if (!is_code && parse(at, &line))
                add_line(&line);
    }
    free(text);
}

void tfd_mappings_begin(bool large_alone, tfd_watch_file *watch)
{
    tfd_mapping_lock();
    tfd_ranges_reset();
    tfd_mapping_unlock();
    is_large_alone = large_alone;
    watch_file = watch;
    atomic_store(&is_asked, true);
    add_mapped_already();
}

void tfd_mappings_begin_in_child(void)
{
    if (inherited)
        add_mapped_already();
    inherited = false;
}

void tfd_mappings_end(void)
{
    atomic_store(&is_asked, false);
}

void tfd_mappings_reset_in_child(void)
{
    inherited = atomic_load(&is_asked) && tfd_ranges_live() > 0;
    tfd_mapping_lock_reset_in_child();
    tfd_ranges_reset();
}
