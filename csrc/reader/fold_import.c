#include "reader/fold_import.h"

#include <string.h>

#include "counters/fold_state.h"
#include "reader/spool_check.h"
#include "spool/spool_file.h"

static struct fold_root *root_of(const struct spool_image *image)
{
    uint64_t offset = atomic_load(&image->spool.header->fold);
    if (!tfd_image_holds_block(image, offset, sizeof(struct fold_root)))
        return NULL;
    return tfd_at(&image->spool, offset);
}

static bool journal_is_sound(const struct spool_image *image, const struct fold_journal *journal)
{
    if (journal->count > TFD_JOURNAL_ENTRIES ||
        !tfd_image_holds_block(image, journal->data, journal->capacity))
        return false;
    for (uint32_t i = 0; i < journal->count; i++) {
        const struct fold_journal_entry *entry = &journal->entries[i];
        if (entry->place > journal->capacity || entry->size > journal->capacity - entry->place ||
            !tfd_image_holds(image, entry->offset, entry->size))
            return false;
    }
    return true;
}

void tfd_fold_roll_back(struct spool_image *image)
{
    const struct fold_root *root = root_of(image);
    if (!root || !root->journal.count)
        return;
    /* This is a copy, since in a damaged spool a block may overlap the journal. */
    struct fold_journal journal = root->journal;
    if (!journal_is_sound(image, &journal))
        return;
    tfd_journal_undo(&image->spool, &journal);
}

/* With `copies` blocks are copied into the image's own room, and invalid ones are left out. Otherwise they are only
 * checked, and the spool is not written, since blocks may overlap there. */
struct import {
    struct spool_image *image;
    bool copies, sound;
};

/* Return the block's new offset, 0 if it cannot be used. */
static uint64_t import_block(struct import *import, uint64_t offset, uint64_t size)
{
    struct tfd_spool *spool = &import->image->spool;
    if (!offset)
        return 0;
    uint64_t usable = tfd_image_holds_block(import->image, offset, size) ? offset : 0;
    if (usable && import->copies) {
        usable = tfd_arena_allocate(spool, size);
        if (usable)
            memcpy(tfd_at(spool, usable), tfd_at(spool, offset), size);
    }
    import->sound &= usable != 0;
    return usable;
}

static void import_group(struct import *import, tfd_ref *ref, uint64_t size)
{
    tfd_ref usable = (tfd_ref)(import_block(import, (uint64_t)*ref * TFD_REF_UNIT, size) / TFD_REF_UNIT);
    if (import->copies)
        *ref = usable;
}

static uint32_t table_capacity(uint32_t entries)
{
    uint32_t capacity = TFD_FIRST_TRACKED_VALUES;
    while (capacity < entries)
        capacity *= 2;
    return capacity;
}

static void import_table(struct import *import, struct fold_record *record, tfd_ref *table, uint8_t *count,
                         uint8_t zero_flag)
{
    uint8_t zero = (record->flags & zero_flag) != 0;
    bool sane = *count <= TFD_TRACKED_VALUES && *count >= zero;
    uint32_t entries = sane ? (uint32_t)(*count - zero) : 0;
    if (entries)
        import_group(import, table, table_capacity(entries) * sizeof(struct fold_value));
    else if (import->copies)
        *table = 0;
    import->sound &= sane && (*table || !entries);
    if (import->copies && !*table)
        *count = zero;
}

static uint64_t import_record(struct import *import, uint64_t offset)
{
    uint64_t usable = import_block(import, offset, sizeof(struct fold_record));
    if (!usable)
        return 0;
    struct fold_record *record = tfd_at(&import->image->spool, usable);
    for (int i = 0; i < 2; i++)
        import_group(import, &record->directions[i], sizeof(struct fold_direction));
    import_group(import, &record->rare, sizeof(struct fold_rare));
    import_group(import, &record->stdio, sizeof(struct fold_stdio));
    import_table(import, record, &record->accesses, &record->access_count, TFD_RECORD_ZERO_ACCESS);
    import_table(import, record, &record->strides, &record->stride_count, TFD_RECORD_ZERO_STRIDE);
    return usable;
}

static uint64_t import_union(struct import *import, uint64_t offset)
{
    if (!offset)
        return 0;
    const struct interval_set *set = tfd_image_holds_block(import->image, offset, sizeof *set)
                                         ? tfd_at(&import->image->spool, offset)
                                         : NULL;
    bool sane = set && set->capacity && set->capacity <= TFD_RECORDER_INTERVALS &&
                (set->capacity & (set->capacity - 1)) == 0 && set->count <= set->capacity;
    import->sound &= sane;
    return sane ? import_block(import, offset, sizeof *set + set->capacity * sizeof(struct interval)) : 0;
}

static void import_root(struct import *import, const struct fold_root *old, struct fold_root *root)
{
    root->totals = old->totals;
    memcpy(root->other_failures, old->other_failures, sizeof root->other_failures);
    for (uint32_t i = 0; i < TFD_FAILURE_SLOTS; i++) {
        if (old->failures[i].operation < TFD_OPERATION_COUNT)
            root->failures[i] = old->failures[i];
        else
            import->sound = false;
    }
    for (int i = 0; i < TFD_UNION_COUNT; i++)
        root->unions[i] = import_union(import, old->unions[i]);
}

static bool import_all(struct spool_image *image, bool copies)
{
    struct import import = {.image = image, .copies = copies, .sound = true};
    const struct fold_root *old = root_of(image);
    atomic_store(&image->spool.header->fold, 0);
    struct fold_root *root = old ? tfd_fold_root(&image->spool) : NULL;
    if (root)
        import_root(&import, old, root);
    import.sound &= root != NULL;
    for (uint32_t i = 0; i < atomic_load(&image->spool.header->file_count); i++) {
        struct tfd_file *file = tfd_file_at(&image->spool, i);
        uint64_t usable = import_record(&import, file->record);
        if (copies)
            file->record = usable;
    }
    return import.sound;
}

bool tfd_fold_import(struct spool_image *image)
{
    return import_all(image, true);
}

bool tfd_fold_adopt(struct spool_image *image)
{
    uint64_t fold = atomic_load(&image->spool.header->fold);
    if (import_all(image, false))
        return true;
    atomic_store(&image->spool.header->fold, fold);
    return false;
}

void tfd_fold_forget(struct spool_image *image)
{
    const struct tfd_spool *spool = &image->spool;
    atomic_store(&spool->header->fold, 0);
    for (uint32_t i = 0; i < atomic_load(&spool->header->file_count); i++) {
        struct tfd_file *file = tfd_file_at(spool, i);
        if (file->record)
            file->record = 0;
    }
    for (uint32_t i = 0; i < atomic_load(&spool->header->thread_count); i++) {
        const struct tfd_thread *thread = tfd_thread_at(spool, i);
        for (uint64_t offset = thread->first_chunk; offset;) {
            struct tfd_chunk *chunk = tfd_at(spool, offset);
            if (atomic_load(&chunk->folded))
                atomic_store(&chunk->folded, 0);
            offset = chunk->next;
        }
    }
}
