/* Finds and makes blocks of counters in the arena. */
#include "counters/fold_step.h"
#include "spool/spool_file.h"

#include <string.h>

/* The block is complete before it can be reached. */
static void publish_order(void)
{
    atomic_signal_fence(memory_order_seq_cst);
}

static tfd_ref allocate(struct tfd_spool *spool, uint64_t size)
{
    uint64_t offset = tfd_arena_allocate(spool, size);
    publish_order();
    return offset / TFD_REF_UNIT <= UINT32_MAX ? (tfd_ref)(offset / TFD_REF_UNIT) : 0;
}

static bool plan_block(struct tfd_spool *spool, tfd_ref *ref, uint64_t size, void **block)
{
    if (!*ref)
        *ref = allocate(spool, size);
    *block = tfd_block(spool, *ref);
    return *block != NULL;
}

bool tfd_plan_record(struct tfd_spool *spool, uint32_t file, struct fold_record **record)
{
    struct tfd_file *entry = tfd_file_at(spool, file);
    if (!entry->record) {
        uint64_t offset = tfd_arena_allocate(spool, sizeof(struct fold_record));
        if (!offset)
            return false;
        publish_order();
        entry->record = offset;
        atomic_fetch_add_explicit(&spool->header->files_folded, 1, memory_order_relaxed);
    }
    *record = tfd_at(spool, entry->record);
    return true;
}

bool tfd_plan_rare(struct tfd_spool *spool, struct fold_record *record, struct fold_rare **rare)
{
    return plan_block(spool, &record->rare, sizeof **rare, (void **)rare);
}

bool tfd_plan_stdio(struct tfd_spool *spool, struct fold_record *record, struct fold_stdio **stdio)
{
    return plan_block(spool, &record->stdio, sizeof **stdio, (void **)stdio);
}

bool tfd_plan_direction(struct tfd_spool *spool, struct fold_record *record, enum tfd_class direction,
                        struct fold_direction **block)
{
    return plan_block(spool, &record->directions[direction], sizeof **block, (void **)block);
}

/* A full table of 4, 8 or 16 entries is replaced by a copy of twice the size. */
static bool grow_table(struct tfd_spool *spool, tfd_ref *table, uint32_t entries)
{
    uint32_t capacity = entries ? entries * 2 : TFD_FIRST_TRACKED_VALUES;
    tfd_ref larger = allocate(spool, capacity * sizeof(struct fold_value));
    if (!larger)
        return false;
    if (entries)
        memcpy(tfd_block(spool, larger), tfd_block(spool, *table), entries * sizeof(struct fold_value));
    publish_order();
    *table = larger;
    return true;
}

static bool is_full(uint32_t entries)
{
    return entries == 0 || (entries >= TFD_FIRST_TRACKED_VALUES && (entries & (entries - 1)) == 0);
}

void tfd_plan_value(struct tfd_spool *spool, tfd_ref *table, uint32_t entries, uint32_t tracked,
                    int64_t value, struct fold_value **place)
{
    struct fold_value *values = tfd_block(spool, *table);
    for (uint32_t i = 0; i < entries; i++) {
        if (values[i].value == value) {
            *place = &values[i];
            return;
        }
    }
    if (tracked >= TFD_TRACKED_VALUES)
        return;
    if (is_full(entries) && !grow_table(spool, table, entries))
        tfd_spool_note_full(spool->header, TFD_FULL_CAP);
    else
        *place = (struct fold_value *)tfd_block(spool, *table) + entries;
}

void tfd_plan_failure(struct fold_root *root, struct fold_step *step)
{
    uint32_t operation = step->event.operation, error = step->event.error;
    uint32_t first = operation * 37 + error;
    for (uint32_t probe = 0; probe < 16; probe++) {
        struct fold_failure *slot = &root->failures[(first + probe) % TFD_FAILURE_SLOTS];
        if (slot->calls == 0 || (slot->operation == operation && slot->error == error)) {
            step->failure = slot;
            return;
        }
    }
    step->failure_calls = &root->other_failures[operation];
}
