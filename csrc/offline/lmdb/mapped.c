#define _GNU_SOURCE
#include "offline/lmdb/mapped.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "offline/lmdb/failure.h"
#include "offline/lmdb/record_check.h"

const char *tfd_lmdb_mapping(struct tfd_lmdb *file)
{
    char *mapped = atomic_load(&file->mapped);
    if (mapped)
        return mapped;
    mapped = mmap(NULL, file->file_bytes, PROT_READ, MAP_SHARED, file->fd, 0);
    if (mapped == MAP_FAILED)
        return NULL;
    char *none = NULL;
    if (atomic_compare_exchange_strong(&file->mapped, &none, mapped))
        return mapped;
    munmap(mapped, file->file_bytes);
    return none;
}

/* Fail if the file was truncated: reading its lost pages would end the process. */
static int check_length(const struct tfd_lmdb *file, struct tfd_lmdb_error *error)
{
    struct stat about;
    if (fstat(file->fd, &about))
        return tfd_lmdb_fail_system(error, errno, "cannot be examined");
    if ((uint64_t)about.st_size >= file->file_bytes)
        return 0;
    return tfd_lmdb_fail(error, TFD_LMDB_DAMAGED, "ends before byte %" PRIu64, file->file_bytes);
}

static int check_record(struct tfd_lmdb *file, uint64_t number, struct tfd_lmdb_error *error)
{
    if (tfd_lmdb_check_number(file, number, error))
        return -1;
    const struct tfd_lmdb_record *record = &file->found.records[number];
    if (record->offset > file->file_bytes || record->size > file->file_bytes - record->offset)
        return tfd_lmdb_fail(error, TFD_LMDB_DAMAGED, "ends before byte %" PRIu64,
                             record->offset + record->size);
    const char *head = tfd_lmdb_mapping(file) + record->offset - MDB_PAGE_HEADER_BYTES;
    return record->flags & TFD_LMDB_IN_PAGES ? tfd_lmdb_check_head(file, record, (const uint8_t *)head, error)
                                             : 0;
}

int tfd_lmdb_check_mapped(struct tfd_lmdb *file, const uint64_t *numbers, size_t count,
                          struct tfd_lmdb_error *error)
{
    int result = check_length(file, error);
    for (size_t i = 0; !result && i < count; i++)
        result = check_record(file, numbers[i], error);
    return result;
}

int tfd_lmdb_copy_mapped(struct tfd_lmdb *file, const uint64_t *numbers, char *const *to, size_t count,
                         struct tfd_lmdb_error *error)
{
    const char *mapped = tfd_lmdb_mapping(file);
    int result = check_length(file, error);
    for (size_t i = 0; !result && i < count; i++) {
        result = check_record(file, numbers[i], error);
        if (!result)
            memcpy(to[i], mapped + file->found.records[numbers[i]].offset,
                   file->found.records[numbers[i]].size);
    }
    return result;
}
