#include "offline/lmdb/record_check.h"

#include <inttypes.h>

#include "offline/lmdb/failure.h"

int tfd_lmdb_check_number(const struct tfd_lmdb *file, uint64_t number, struct tfd_lmdb_error *error)
{
    if (number < file->found.count)
        return 0;
    return tfd_lmdb_fail(error, TFD_LMDB_MISSING, "has no record number %" PRIu64, number);
}

int tfd_lmdb_check_head(const struct tfd_lmdb *file, const struct tfd_lmdb_record *record,
                        const uint8_t *head, struct tfd_lmdb_error *error)
{
    uint64_t bytes = file->page_bytes;
    if (!record->size || (mdb_u64(head) == record->offset / bytes && mdb_u16(head + 10) & MDB_P_OVERFLOW &&
                          mdb_u32(head + 12) * bytes >= MDB_PAGE_HEADER_BYTES + (uint64_t)record->size))
        return 0;
    return tfd_lmdb_fail(error, TFD_LMDB_DAMAGED, "is damaged: page %" PRIu64 " does not begin a value",
                         record->offset / bytes);
}
