#define _GNU_SOURCE
#include "recorder/mount_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/error.h"
#include "base/whole_file.h"
#include "spool/spool_file.h"

/* Lustre's f_bsize is a page. Darshan and this use its stripe size instead. */
#define LUSTRE_MAGIC 0x0BD00BD0
#define LUSTRE_STRIPE_BYTES (1u << 20)

struct mount_entry {
    const char *point, *fs_type, *source;
};

static char *text;
static struct mount_entry entries[TFD_MAX_MOUNTS];
static uint32_t entry_count;

/* The kernel writes blanks and backslashes of names as \ooo. */
static void unescape(char *name)
{
    char *out = name;
    for (char *in = name; *in; out++) {
        if (in[0] == '\\' && in[1] >= '0' && in[1] <= '3' && in[2] && in[3]) {
            *out = (char)((in[1] - '0') * 64 + (in[2] - '0') * 8 + (in[3] - '0'));
            in += 4;
        } else {
            *out = *in++;
        }
    }
    *out = '\0';
}

/* Format: proc(5), /proc/pid/mounts: source, point, type, options ... */
static void parse_line(char *line)
{
    char *save = NULL;
    char *source = strtok_r(line, " ", &save), *point = strtok_r(NULL, " ", &save),
         *type = strtok_r(NULL, " ", &save);
    if (!type || entry_count == TFD_MAX_MOUNTS)
        return;
    unescape(source);
    unescape(point);
    entries[entry_count++] = (struct mount_entry){point, type, source};
}

void tfd_mounts_read(void)
{
    free(text);
    entry_count = 0;
    text = tfd_read_whole("/proc/self/mounts");
    char *save = NULL;
    for (char *line = text ? strtok_r(text, "\n", &save) : NULL; line; line = strtok_r(NULL, "\n", &save))
        parse_line(line);
}

int tfd_mounts_copy(struct tfd_spool *spool)
{
    uint64_t table = tfd_arena_allocate(spool, (entry_count + 1) * sizeof(struct tfd_mount));
    if (!table)
        return tfd_fail(ENOSPC, "no room for the mount table in the spool");
    struct tfd_mount *mounts = tfd_at(spool, table);
    for (uint32_t i = 0; i < entry_count; i++) {
        size_t length = strlen(entries[i].point);
        mounts[i].point = tfd_arena_copy_string(spool, entries[i].point, length);
        mounts[i].point_length = (uint32_t)length;
        mounts[i].fs_type = tfd_arena_copy_string(spool, entries[i].fs_type, strlen(entries[i].fs_type));
        mounts[i].source = tfd_arena_copy_string(spool, entries[i].source, strlen(entries[i].source));
        if (!mounts[i].point || !mounts[i].fs_type || !mounts[i].source)
            return tfd_fail(ENOSPC, "no room for the mount table in the spool");
    }
    spool->header->mounts = table;
    spool->header->mount_count = entry_count;
    return 0;
}

static bool holds(const char *point, size_t point_length, const char *path, size_t length)
{
    if (point_length == 1)
        return path[0] == '/';
    return length >= point_length && !memcmp(path, point, point_length) &&
           (length == point_length || path[point_length] == '/');
}

uint32_t tfd_mount_of(const struct tfd_spool *spool, const char *path, size_t length)
{
    const struct tfd_mount *mounts = tfd_at(spool, spool->header->mounts);
    uint32_t best = TFD_NO_MOUNT, best_length = 0;
    for (uint32_t i = 0; i < spool->header->mount_count; i++) {
        uint32_t point_length = mounts[i].point_length;
        /* a later mount on the same point covers the earlier one */
        if (point_length >= best_length &&
            holds(tfd_at(spool, mounts[i].point), point_length, path, length)) {
            best = i;
            best_length = point_length;
        }
    }
    return best;
}

void tfd_mount_learn_block_size(struct tfd_spool *spool, uint32_t mount, int fd)
{
    if (mount == TFD_NO_MOUNT)
        return;
    struct tfd_mount *entry = (struct tfd_mount *)tfd_at(spool, spool->header->mounts) + mount;
    struct statfs file_system;
    if (!atomic_load_explicit(&entry->block_size, memory_order_relaxed) && !fstatfs(fd, &file_system))
        atomic_store(&entry->block_size, file_system.f_type == LUSTRE_MAGIC ? LUSTRE_STRIPE_BYTES
                                                                            : (uint32_t)file_system.f_bsize);
}
