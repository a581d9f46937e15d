#define _GNU_SOURCE
#include "recorder/path_table.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/error.h"
#include "base/plain_path.h"
#include "recorder/bypasses.h"
#include "recorder/links_of_kernel.h"
#include "recorder/mount_table.h"
#include "recorder/overflow_names.h"
#include "recorder/path_filter.h"
#include "spool/fold_room.h"
#include "spool/path_hash.h"
#include "spool/spool_file.h"

#define FIRST_INDEX_SIZE 4096u
/* A buffer for a directory and a path below it. It is not on the stack, since a
 * signal handler may have only a few kilobytes. */
static char path_buffer[PATH_MAX + 256];
/* Likewise, for a path without "..". */
static char plain_buffer[sizeof path_buffer];

/* A hash table with open addressing in private memory, since readers of the spool do not need it. */
static uint32_t *index_of_hash;
static uint32_t index_size;

static uint32_t *new_index(uint32_t size)
{
    void *memory = mmap(NULL, size * sizeof(uint32_t), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

int tfd_paths_reset(void)
{
    if (index_of_hash)
        munmap(index_of_hash, index_size * sizeof(uint32_t));
    tfd_overflow_names_reset();
    index_size = FIRST_INDEX_SIZE;
    index_of_hash = new_index(index_size);
    return index_of_hash ? 0 : tfd_fail(ENOMEM, "no memory for the index of file names");
}

static void place(uint32_t *index, uint32_t size, uint32_t hash, uint32_t file)
{
    uint32_t at = hash & (size - 1);
    while (index[at])
        at = (at + 1) & (size - 1);
    index[at] = file;
}

static void grow_index(const struct tfd_spool *spool, uint32_t files)
{
    uint32_t larger_size = 2 * index_size;
    uint32_t *larger = new_index(larger_size);
    if (!larger)
        return;
    for (uint32_t file = TFD_FIRST_FILE; file < files; file++)
        place(larger, larger_size, tfd_file_at(spool, file)->path_hash, file);
    uint32_t *smaller = index_of_hash, smaller_size = index_size;
    index_of_hash = larger;
    index_size = larger_size;
    munmap(smaller,
           smaller_size * sizeof(uint32_t)); /* last: a child that is forked now unmaps what it finds here */
}

/* Arrays grow segment by segment. */
static bool ensure_segment(struct tfd_spool *spool, uint32_t file)
{
    uint32_t within, segment = tfd_segment_of(file, TFD_FILES_IN_FIRST_SEGMENT, &within);
    uint64_t *offset = &spool->header->file_segments[segment];
    if (!*offset)
        *offset = tfd_arena_allocate_leaving(
            spool, ((uint64_t)TFD_FILES_IN_FIRST_SEGMENT << segment) * sizeof(struct tfd_file),
            tfd_fold_reserve_bytes(spool));
    return *offset;
}

static bool has_room_for_file(const struct tfd_spool *spool, size_t path_length)
{
    uint64_t need = path_length + 2 * TFD_FOLD_FILE_BYTES + tfd_fold_reserve_bytes(spool);
    return atomic_load(&spool->header->used_bytes) + need < spool->capacity_bytes;
}

static uint32_t add_file(struct tfd_spool *spool, const char *path, size_t length, uint64_t name_hash)
{
    struct tfd_spool_header *header = spool->header;
    uint32_t hash = (uint32_t)name_hash;
    uint32_t file = atomic_load(&header->file_count);
    uint64_t name = 0;
    if (tfd_overflow_name_is_known(
            name_hash)) /* even if there is room by now: a row must have all calls of its file */
        return TFD_FILE_OVERFLOW;
    if (2 * (file + 1) > index_size)
        grow_index(spool, file);
    if (file < TFD_MAX_FILES && file + 1 < index_size && has_room_for_file(spool, length) &&
        ensure_segment(spool, file) && tfd_fold_keep_usable(spool))
        name = tfd_arena_copy_string(spool, path, length);
    if (!name) {
        atomic_fetch_add(&header->files_over_cap, tfd_overflow_name_is_new(name_hash));
        return TFD_FILE_OVERFLOW;
    }
    *tfd_file_at(spool, file) = (struct tfd_file){.path = name,
                                                  .path_length = (uint32_t)length,
                                                  .path_hash = hash,
                                                  .mount = tfd_mount_of(spool, path, length)};
    atomic_store(&header->file_count, file + 1);
    place(index_of_hash, index_size, hash, file);
    return file;
}

int tfd_paths_prepare_spool(struct tfd_spool *spool)
{
    if (!ensure_segment(spool, TFD_FILE_OVERFLOW))
        return tfd_fail(ENOSPC, "no room for the file table in the spool %s", spool->path);
    tfd_file_at(spool, TFD_FILE_NONE)->mount = TFD_NO_MOUNT;
    tfd_file_at(spool, TFD_FILE_OVERFLOW)->mount = TFD_NO_MOUNT;
    atomic_store(&spool->header->file_count, TFD_FIRST_FILE);
    return 0;
}

/* Return the file's number, 0 if it is not in the table. */
static uint32_t find_file(const struct tfd_spool *spool, const char *path, size_t length, uint32_t hash)
{
    for (uint32_t at = hash & (index_size - 1); index_of_hash[at]; at = (at + 1) & (index_size - 1)) {
        const struct tfd_file *file = tfd_file_at(spool, index_of_hash[at]);
        if (file->path_hash == hash && file->path_length == length &&
            !memcmp(tfd_at(spool, file->path), path, length))
            return index_of_hash[at];
    }
    return 0;
}

/* Patterns name files without "..". */
static bool is_wanted(struct tfd_spool *spool, const char *path, size_t length)
{
    struct plain_path plain = {.name = plain_buffer};
    if (path[0] != '/' || !memmem(path, length, "/../", 4))
        return tfd_path_wanted(path, length, &spool->header->patterns_met);
    tfd_plain_path_append(&plain, path);
    plain_buffer[plain.length] = '\0';
    return tfd_path_wanted(plain_buffer, plain.length, &spool->header->patterns_met);
}

static tfd_target wanted_target(struct tfd_spool *spool, const char *path, size_t length)
{
    uint64_t hash = tfd_path_hash(path, length);
    uint32_t file = find_file(spool, path, length, (uint32_t)hash);
    if (file)
        return file;
    if (!is_wanted(spool, path, length))
        return TFD_OTHER_BIT | TFD_OTHER_EXCLUDED;
    return add_file(spool, path, length, hash);
}

/* Return the target of the path in path_buffer. Patterns exclude files below /proc and /dev, not files elsewhere that
 * have a name there. */
static tfd_target absolute_target(struct tfd_spool *spool, size_t length)
{
    if (!length)
        return TFD_OTHER_BIT | TFD_OTHER_UNKNOWN;
    tfd_target target = wanted_target(spool, path_buffer, length);
    if (target != (TFD_OTHER_BIT | TFD_OTHER_EXCLUDED))
        return target;
    size_t followed = tfd_follow_links_of_kernel(path_buffer, length, sizeof path_buffer);
    return followed ? wanted_target(spool, path_buffer, followed) : target;
}

/* This does not use getcwd(3): if the path is longer than PATH_MAX, the C library lists one parent after the other. */
static ssize_t working_directory(char *out)
{
    long bytes = syscall(SYS_getcwd, out, PATH_MAX);
    return bytes > 0 ? bytes - 1 : -1;
}

/* Write the directory's inode number in place of its name: the kernel names no directory whose path is longer than
 * PATH_MAX. */
static size_t number_of(int dirfd, char *out)
{
    struct stat status;
    if (fstatat(dirfd, "", &status, AT_EMPTY_PATH))
        return 0;
    int length = snprintf(out, PATH_MAX, "(beyond PATH_MAX, device %u:%u, inode %llu)", major(status.st_dev),
                          minor(status.st_dev), (unsigned long long)status.st_ino);
    return length > 0 ? (size_t)length : 0;
}

static size_t directory_of(int dirfd, char *out)
{
    char link[40];
    snprintf(link, sizeof link, "/proc/self/fd/%d", dirfd);
    ssize_t length = dirfd == AT_FDCWD ? working_directory(out) : readlink(link, out, PATH_MAX - 1);
    if (length < 0 && errno == ENAMETOOLONG)
        return number_of(dirfd, out);
    return length > 0 && out[0] == '/' ? (size_t)length : 0;
}

/* Append path components, without empty ones and ".". */
static size_t append_components(char *out, size_t length, const char *path)
{
    while (*path) {
        size_t part = strcspn(path, "/");
        if (part && !(part == 1 && path[0] == '.')) {
            if (length + 1 + part >= sizeof path_buffer)
                return 0;
            out[length++] = '/';
            memcpy(out + length, path, part);
            length += part;
        }
        path += part + (path[part] == '/');
    }
    return length;
}

static size_t below_root(const char *path, char *out)
{
    size_t length = append_components(out, 0, path);
    if (!length)
        out[length++] = '/';
    return length;
}

/* Join directory and path, by the directory's inode number if both are too long together. */
static size_t join(int dirfd, const char *path, char *out)
{
    size_t length = directory_of(dirfd, out);
    if (length <= 1)
        return length ? below_root(path, out) : 0;
    size_t joined = append_components(out, length, path);
    if (joined)
        return joined;
    length = number_of(dirfd, out);
    return length ? append_components(out, length, path) : 0;
}

/* Return the length, 0 if the directory is unknown or the name too long. */
static size_t make_absolute(int dirfd, const char *path, char *out)
{
    if (!path)
        return 0;
    size_t length = path[0] == '/' ? below_root(path, out) : join(dirfd, path, out);
    out[length] = '\0';
    return length;
}

tfd_target tfd_path_target(struct tfd_spool *spool, int dirfd, const char *path)
{
    return absolute_target(spool, make_absolute(dirfd, path, path_buffer));
}

static enum tfd_other_kind kind_of_mode(mode_t mode)
{
    if (S_ISFIFO(mode))
        return TFD_OTHER_PIPE;
    if (S_ISSOCK(mode))
        return TFD_OTHER_SOCKET;
    if (S_ISCHR(mode) || S_ISBLK(mode))
        return TFD_OTHER_DEVICE;
    return TFD_OTHER_ANONYMOUS;
}

/* Return how many bytes the maker of a piece of shared memory puts before the random part of its name, 0 where no maker
 * that is known made it. */
static size_t prefix_of_maker(const char *name)
{
    static const char *const makers[] = {"torch_", "psm_"}; /* PyTorch, Python's shared_memory */
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++)
        if (!strncmp(name, makers[i], strlen(makers[i])))
            return strlen(makers[i]);
    return 0;
}

/* A piece of shared memory is named by a process and a random number, and the name never comes again: pieces have one
 * row for each family of names. A file that has its name still, or is opened by it, has a row of its own. */
static size_t family_of_shared_memory(char *path, size_t length, nlink_t links)
{
    static const char folder[] = "/dev/shm/";
    size_t begin = sizeof folder - 1;
    if (length <= begin || memcmp(path, folder, begin) || strchr(path + begin, '/'))
        return length;
    size_t prefix = prefix_of_maker(path + begin);
    if (!prefix && links)
        return length;
    size_t family = begin + (prefix ? prefix : strcspn(path + begin, "0123456789"));
    if (family == length)
        return length;
    memcpy(path + family, "*", sizeof "*");
    return family + 1;
}

tfd_target tfd_descriptor_target(struct tfd_spool *spool, int fd, int64_t *offset)
{
    static const char deleted[] = " (deleted)";
    char link[40], *path = path_buffer;
    struct stat status;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t got = readlink(link, path, PATH_MAX - 1);
    if (got < 0 && errno == ENAMETOOLONG)
        got = (ssize_t)number_of(fd, path);
    if (got <= 0 || fstat(fd, &status))
        return TFD_OTHER_BIT | TFD_OTHER_UNKNOWN;
    path[got] = '\0';
    if (!S_ISREG(status.st_mode) || (path[0] != '/' && path[0] != '(') || !strncmp(path, "/memfd:", 7)) {
        tfd_bypasses_note_descriptor(spool->header, path);
        return TFD_OTHER_BIT | kind_of_mode(S_ISREG(status.st_mode) ? 0 : status.st_mode);
    }
    size_t length = (size_t)got, suffix = sizeof deleted - 1;
    if (!status.st_nlink && length > suffix && !memcmp(path + length - suffix, deleted, suffix))
        length -= suffix;
    path[length] = '\0';
    *offset = lseek(fd, 0, SEEK_CUR);
    return absolute_target(spool, family_of_shared_memory(path, length, status.st_nlink));
}
