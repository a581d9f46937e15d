#include "counters/fold_journal.h"

#include <string.h>

#include "spool/spool_file.h"

static void keep_order(void)
{
    atomic_signal_fence(memory_order_seq_cst);
}

bool tfd_journal_reserve(struct tfd_spool *spool, struct fold_journal *journal, uint64_t size)
{
    if (size <= journal->capacity)
        return true;
    uint64_t capacity = TFD_JOURNAL_BYTES;
    while (capacity < size)
        capacity *= 2;
    uint64_t data = tfd_arena_allocate(spool, capacity);
    if (!data)
        return false;
    /* Not in use between events, so the two stores need no order. */
    journal->data = data;
    journal->capacity = (uint32_t)capacity;
    return true;
}

void tfd_journal_begin(struct fold_journal *journal, uint64_t chunk, uint32_t index)
{
    journal->count = 0;
    keep_order();
    journal->used = 0;
    journal->chunk = chunk;
    journal->index = index;
}

void tfd_journal_save(const struct tfd_spool *spool, struct fold_journal *journal, const void *block,
                      uint32_t size)
{
    struct fold_journal_entry *entry = &journal->entries[journal->count];
    *entry = (struct fold_journal_entry){(uint64_t)((const char *)block - spool->base), size, journal->used};
    memcpy((char *)tfd_at(spool, journal->data) + journal->used, block, size);
    journal->used += size;
    keep_order();
    journal->count++;
    keep_order();
}

void tfd_journal_end(struct fold_journal *journal)
{
    keep_order();
    journal->count = 0;
}

void tfd_journal_undo(const struct tfd_spool *spool, struct fold_journal *journal)
{
    const char *data = tfd_at(spool, journal->data);
    for (uint32_t i = journal->count; i-- > 0;) {
        const struct fold_journal_entry *entry = &journal->entries[i];
        memmove(tfd_at(spool, entry->offset), data + entry->place, entry->size);
    }
    journal->count = 0;
}
