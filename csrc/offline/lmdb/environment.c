#define _GNU_SOURCE
#include "offline/lmdb/environment.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "offline/lmdb/failure.h"

enum {
    META_AT = MDB_PAGE_HEADER_BYTES,
    HEAD_BYTES = MDB_PAGE_HEADER_BYTES + MDB_META_BYTES,
    DATA_VERSION = 1,
    MOST_META_READS = 1000,
};

int tfd_lmdb_read_bytes(int fd, void *to, size_t size, uint64_t offset, struct tfd_lmdb_error *error)
{
    for (size_t done = 0; done < size;) {
        ssize_t got = pread(fd, (char *)to + done, size - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return tfd_lmdb_fail_system(error, errno, "cannot be read");
        if (!got)
            return tfd_lmdb_fail(error, TFD_LMDB_DAMAGED, "ends before byte %" PRIu64, offset + size);
        done += (size_t)got;
    }
    return 0;
}

bool tfd_lmdb_has_pages(const struct tfd_lmdb *file, uint64_t first, uint64_t count)
{
    uint64_t in_file = file->file_bytes / file->page_bytes;
    uint64_t pages = file->last_page < in_file ? file->last_page + 1 : in_file;
    return first < pages && count <= pages - first;
}

/* Fail with the name of the file's format, if it is known. */
static int fail_other(const uint8_t *head, struct tfd_lmdb_error *error)
{
    static const struct {
        size_t at;
        uint32_t magic;
        const char *what;
    } formats[] = {
        {24, MDB_MAGIC, "was written by LMDB 1.0, whose format is not read here"},
        {12, MDB_MAGIC, "was written on a 32-bit machine, whose format is not read here"},
        {META_AT, 0xDEC0EFBEu, "was written on a big-endian machine, whose format is not read here"},
    };
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (mdb_u32(head + formats[i].at) == formats[i].magic)
            return tfd_lmdb_fail(error, TFD_LMDB_OTHER, "%s", formats[i].what);
    return tfd_lmdb_fail(error, TFD_LMDB_FOREIGN, "is not an LMDB data file");
}

static int check_page_bytes(uint64_t bytes, struct tfd_lmdb_error *error)
{
    if (bytes >= MDB_SMALLEST_PAGE && bytes <= MDB_LARGEST_PAGE && !(bytes & (bytes - 1)))
        return 0;
    return tfd_lmdb_fail(error, TFD_LMDB_DAMAGED, "is damaged: its pages have %" PRIu64 " bytes", bytes);
}

/* Read one of the two meta pages into `file` if it is the newer one. */
static int read_meta(struct tfd_lmdb *file, int index, struct tfd_lmdb_error *error)
{
    uint8_t head[HEAD_BYTES];
    const uint8_t *meta = head + META_AT;
    if (tfd_lmdb_read_bytes(file->fd, head, sizeof head, (uint64_t)index * file->page_bytes, error))
        return -1;
    if (mdb_u32(meta) != MDB_MAGIC)
        return index ? tfd_lmdb_fail(error, TFD_LMDB_DAMAGED, "is damaged: its second meta page is not one")
                     : fail_other(head, error);
    if (mdb_u32(meta + 4) != DATA_VERSION)
        return tfd_lmdb_fail(error, TFD_LMDB_OTHER, "has data version %" PRIu32 ", and only 1 is read here",
                             mdb_u32(meta + 4));
    if (!(mdb_u16(head + 10) & MDB_P_META) || mdb_u64(head) != (uint64_t)index)
        return tfd_lmdb_fail(error, TFD_LMDB_DAMAGED, "is damaged: meta page %d is not marked so", index);
    if (!index && check_page_bytes(mdb_u32(meta + 24), error))
        return -1;
    uint64_t transaction = mdb_u64(meta + 128);
    if (index && transaction <= file->transaction)
        return 0;
    file->page_bytes = index ? file->page_bytes : mdb_u32(meta + 24);
    file->map_bytes = mdb_u64(meta + 16);
    file->main = mdb_read_tree(meta + 24 + MDB_TREE_BYTES);
    file->last_page = mdb_u64(meta + 120);
    file->transaction = transaction;
    return 0;
}

/* Read the newer meta page until it is the same twice. A writer that overtakes a read leaves the tree of an older
 * transaction beside its own number. Writers write that number last, so a page that is the same twice is whole. */
static int read_newest(struct tfd_lmdb *file, struct tfd_lmdb_error *error)
{
    for (int reads = 0; reads < MOST_META_READS; reads++) {
        struct mdb_tree main = file->main;
        uint64_t transaction = file->transaction, last_page = file->last_page;
        file->transaction = 0;
        if (read_meta(file, 0, error) || read_meta(file, 1, error))
            return -1;
        if (reads && transaction == file->transaction && last_page == file->last_page &&
            !memcmp(&main, &file->main, sizeof main))
            return 0;
    }
    return tfd_lmdb_fail(error, TFD_LMDB_DAMAGED, "is written to faster than it can be opened");
}

static int read_metas(struct tfd_lmdb *file, struct tfd_lmdb_error *error)
{
    struct stat about;
    if (fstat(file->fd, &about))
        return tfd_lmdb_fail_system(error, errno, "cannot be examined");
    if (!S_ISREG(about.st_mode))
        return tfd_lmdb_fail(error, TFD_LMDB_FOREIGN, "is not a regular file");
    file->file_bytes = (uint64_t)about.st_size;
    if (file->file_bytes < HEAD_BYTES)
        return tfd_lmdb_fail(error, TFD_LMDB_FOREIGN, "is not an LMDB data file: it has %" PRIu64 " bytes",
                             file->file_bytes);
    if (read_newest(file, error))
        return -1;
    /* Page numbers have 48 bits; larger ones would overflow in computations. */
    if (file->last_page < 1 || file->last_page >> 47)
        return tfd_lmdb_fail(error, TFD_LMDB_DAMAGED, "is damaged: its last page is number %" PRIu64,
                             file->last_page);
    return 0;
}

struct tfd_lmdb *tfd_lmdb_open(const char *path, int direct, struct tfd_lmdb_error *error)
{
    struct tfd_lmdb *file = calloc(1, sizeof *file);
    if (!file) {
        tfd_lmdb_fail_system(error, ENOMEM, "cannot be opened");
        return NULL;
    }
    file->direct_fd = -1;
    atomic_init(&file->users, 1);
    /* O_NONBLOCK: an open of a FIFO without a writer would wait. */
    file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file->fd < 0)
        tfd_lmdb_fail_system(error, errno, "cannot be opened");
    if (file->fd < 0 || read_metas(file, error)) {
        tfd_lmdb_close(file);
        return NULL;
    }
    file->indexed = file->main;
    if (direct)
        file->direct_fd = open(path, O_RDONLY | O_CLOEXEC | O_DIRECT);
    return file;
}

static void unmap(struct tfd_lmdb *file)
{
    char *mapped = atomic_load(&file->mapped);
    if (mapped)
        munmap(mapped, file->file_bytes);
}

void tfd_lmdb_close(struct tfd_lmdb *file)
{
    if (!file || atomic_fetch_sub(&file->users, 1) > 1)
        return;
    if (file->fd >= 0)
        close(file->fd);
    if (file->direct_fd >= 0)
        close(file->direct_fd);
    unmap(file);
    tfd_lmdb_forget(&file->found);
    free(file);
}

int tfd_lmdb_reads_direct(const struct tfd_lmdb *file)
{
    return file->direct_fd >= 0;
}

int tfd_lmdb_descriptor(const struct tfd_lmdb *file)
{
    return file->fd;
}

int tfd_lmdb_newest(const struct tfd_lmdb *file, uint64_t *transaction, struct tfd_lmdb_error *error)
{
    struct tfd_lmdb now = {.fd = file->fd, .page_bytes = file->page_bytes};
    if (read_meta(&now, 0, error) || read_meta(&now, 1, error))
        return -1;
    *transaction = now.transaction;
    return 0;
}

void tfd_lmdb_facts_of(const struct tfd_lmdb *file, struct tfd_lmdb_facts *facts)
{
    *facts = (struct tfd_lmdb_facts){
        .file_bytes = file->file_bytes,
        .page_bytes = file->page_bytes,
        .map_bytes = file->map_bytes,
        .last_page = file->last_page,
        .transaction = file->transaction,
        .entries = file->indexed.entries,
        .branch_pages = file->indexed.branch_pages,
        .leaf_pages = file->indexed.leaf_pages,
        .overflow_pages = file->indexed.overflow_pages,
        .depth = file->indexed.depth,
        .flags = file->indexed.flags,
    };
}

uint64_t tfd_lmdb_count(const struct tfd_lmdb *file)
{
    return file->found.count;
}

const struct tfd_lmdb_record *tfd_lmdb_records(const struct tfd_lmdb *file)
{
    return file->found.records;
}

const char *tfd_lmdb_keys(const struct tfd_lmdb *file, uint64_t *size)
{
    *size = file->found.key_bytes;
    return file->found.keys;
}
