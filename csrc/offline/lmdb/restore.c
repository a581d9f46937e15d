/* Restores records that were found before and kept elsewhere. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "offline/lmdb/environment.h"
#include "offline/lmdb/failure.h"

static bool fits(const struct tfd_lmdb *file, const struct tfd_lmdb_record *record, uint64_t key_bytes)
{
    uint64_t end = file->file_bytes;
    return record->key <= key_bytes && record->key_size <= key_bytes - record->key &&
           record->offset >= MDB_PAGE_HEADER_BYTES && record->offset <= end &&
           record->size <= end - record->offset;
}

static void *copy_of(const void *from, size_t size)
{
    void *copy = malloc(size ? size : 1);
    if (copy && size)
        memcpy(copy, from, size);
    return copy;
}

int tfd_lmdb_restore(struct tfd_lmdb *file, const struct tfd_lmdb_record *records, uint64_t count,
                     const char *keys, uint64_t key_bytes, const struct tfd_lmdb_facts *facts,
                     struct tfd_lmdb_error *error)
{
    if (facts->transaction != file->transaction || facts->entries != count)
        return tfd_lmdb_fail(error, TFD_LMDB_DAMAGED, "is not what was kept: it has transaction %" PRIu64,
                             file->transaction);
    for (uint64_t i = 0; i < count; i++)
        if (!fits(file, &records[i], key_bytes))
            return tfd_lmdb_fail(error, TFD_LMDB_DAMAGED, "does not hold record %" PRIu64 " as it was kept",
                                 i);
    struct tfd_lmdb_found found = {
        .records = copy_of(records, count * sizeof *records),
        .count = count,
        .room = count,
        .keys = copy_of(keys, key_bytes),
        .key_bytes = key_bytes,
        .key_room = key_bytes,
    };
    if (!found.records || !found.keys) {
        tfd_lmdb_forget(&found);
        return tfd_lmdb_fail_system(error, ENOMEM, "no memory for its records");
    }
    tfd_lmdb_forget(&file->found);
    file->found = found;
    file->indexed = (struct mdb_tree){
        .flags = facts->flags,
        .depth = facts->depth,
        .branch_pages = facts->branch_pages,
        .leaf_pages = facts->leaf_pages,
        .overflow_pages = facts->overflow_pages,
        .entries = count,
    };
    return 0;
}
