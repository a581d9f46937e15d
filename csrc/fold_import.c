#include "fold_import.h"

#include <string.h>

#include "fold_state.h"
#include "spool_check.h"

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
    /* A copy: in a damaged spool a block may lie on the journal itself. */
    struct fold_journal journal = root->journal;
    if (!journal_is_sound(image, &journal) ||
        !tfd_image_holds_block(image, journal.chunk, sizeof(struct tfd_chunk)))
        return;
    const struct tfd_chunk *chunk = tfd_at(&image->spool, journal.chunk);
    if (atomic_load(&chunk->folded) == journal.index)
        tfd_journal_undo(&image->spool, &journal);
}

/* Copies a block into the image's own room; 0 if there is none, or *sound becomes false. */
static uint64_t import_block(struct spool_image *image, uint64_t offset, uint64_t size, bool *sound)
{
    if (!offset)
        return 0;
    uint64_t copy = tfd_image_holds_block(image, offset, size) ? tfd_arena_allocate(&image->spool, size) : 0;
    if (copy)
        memcpy(tfd_at(&image->spool, copy), tfd_at(&image->spool, offset), size);
    else
        *sound = false;
    return copy;
}

static void import_group(struct spool_image *image, tfd_ref *ref, uint64_t size, bool *sound)
{
    *ref = (tfd_ref)(import_block(image, (uint64_t)*ref * TFD_REF_UNIT, size, sound) / TFD_REF_UNIT);
}

static uint32_t table_capacity(uint32_t entries)
{
    uint32_t capacity = TFD_FIRST_TRACKED_VALUES;
    while (capacity < entries)
        capacity *= 2;
    return capacity;
}

static void import_table(struct spool_image *image, struct fold_record *record, tfd_ref *table,
                         uint8_t *count, uint8_t zero_flag, bool *sound)
{
    uint32_t zero = (record->flags & zero_flag) != 0;
    bool sane = *count <= TFD_TRACKED_VALUES && *count >= zero;
    uint32_t entries = sane ? *count - zero : 0;
    *sound &= sane;
    if (entries)
        import_group(image, table, table_capacity(entries) * sizeof(struct fold_value), sound);
    else
        *table = 0;
    if (entries && !*table)
        *sound = false;
    if (!*table)
        *count = (uint8_t)zero;
}

static uint64_t import_record(struct spool_image *image, uint64_t offset, bool *sound)
{
    uint64_t copy = import_block(image, offset, sizeof(struct fold_record), sound);
    if (!copy)
        return 0;
    struct fold_record *record = tfd_at(&image->spool, copy);
    for (int i = 0; i < 2; i++)
        import_group(image, &record->directions[i], sizeof(struct fold_direction), sound);
    import_group(image, &record->rare, sizeof(struct fold_rare), sound);
    import_group(image, &record->stdio, sizeof(struct fold_stdio), sound);
    import_table(image, record, &record->accesses, &record->access_count, TFD_RECORD_ZERO_ACCESS, sound);
    import_table(image, record, &record->strides, &record->stride_count, TFD_RECORD_ZERO_STRIDE, sound);
    return copy;
}

static uint64_t import_union(struct spool_image *image, uint64_t offset, bool *sound)
{
    if (!offset)
        return 0;
    const struct interval_set *set =
        tfd_image_holds_block(image, offset, sizeof *set) ? tfd_at(&image->spool, offset) : NULL;
    bool sane = set && set->capacity && set->capacity <= TFD_RECORDER_INTERVALS &&
                (set->capacity & (set->capacity - 1)) == 0 && set->count <= set->capacity;
    *sound &= sane;
    return sane ? import_block(image, offset, sizeof *set + set->capacity * sizeof(struct interval), sound)
                : 0;
}

static bool import_root(struct spool_image *image, const struct fold_root *old)
{
    bool sound = true;
    struct fold_root *root = tfd_fold_root(&image->spool);
    if (!root)
        return false;
    root->totals = old->totals;
    memcpy(root->other_failures, old->other_failures, sizeof root->other_failures);
    for (uint32_t i = 0; i < TFD_FAILURE_SLOTS; i++) {
        if (old->failures[i].operation < TFD_OPERATION_COUNT)
            root->failures[i] = old->failures[i];
        else
            sound = false;
    }
    for (int i = 0; i < TFD_UNION_COUNT; i++)
        root->unions[i] = import_union(image, old->unions[i], &sound);
    return sound;
}

bool tfd_fold_import(struct spool_image *image)
{
    const struct fold_root *old = root_of(image);
    atomic_store(&image->spool.header->fold, 0);
    bool sound = old && import_root(image, old);
    for (uint32_t i = 0; i < atomic_load(&image->spool.header->file_count); i++) {
        struct tfd_file *file = tfd_file_at(&image->spool, i);
        if (file->record)
            file->record = import_record(image, file->record, &sound);
    }
    return sound;
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
