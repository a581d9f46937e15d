#include "mapping/mapped_files.h"

#include "spool/fold_room.h"
#include "spool/spool_file.h"

static uint64_t allocate(struct tfd_spool *spool, uint64_t size)
{
    return tfd_arena_allocate_leaving(spool, size, tfd_fold_reserve_bytes(spool));
}

struct tfd_mapped_files *tfd_mapped_files_of(struct tfd_spool *spool)
{
    uint64_t offset = atomic_load(&spool->header->mapped_files);
    if (!offset && (offset = allocate(spool, sizeof(struct tfd_mapped_files))))
        atomic_store(&spool->header->mapped_files, offset);
    return offset ? tfd_at(spool, offset) : NULL;
}

uint64_t tfd_mapped_file_of(struct tfd_spool *spool, uint32_t file, bool *is_new)
{
    struct tfd_mapped_files *list = tfd_mapped_files_of(spool);
    *is_new = false;
    if (!list)
        return 0;
    uint64_t *link = &list->first;
    for (; *link; link = &tfd_mapped_file_at(spool, *link)->next)
        if (tfd_mapped_file_at(spool, *link)->file == file)
            return *link;
    uint64_t offset =
        list->count < TFD_MAPPED_FILES_MAX ? allocate(spool, sizeof(struct tfd_mapped_file)) : 0;
    if (!offset)
        return 0;
    struct tfd_mapped_file *added = tfd_mapped_file_at(spool, offset);
    added->file = file;
    added->bytes_in = TFD_BYTES_NOT_LOOKED;
    *is_new = true;
    list->count++;
    __atomic_store_n(link, offset, __ATOMIC_RELEASE);
    return offset;
}

void tfd_mapped_files_count_left_out(struct tfd_spool *spool)
{
    struct tfd_mapped_files *list = tfd_mapped_files_of(spool);
    if (list)
        list->left_out++;
}
