#include "counters/fold_journal.h"

#include <string.h>

#include "spool/spool_file.h"

#define KNOWN_COPIES 256u

/* Copies made since the last commit, found by where their block lies. Where two blocks have one place here, the
 * first may be copied twice: putting the copies back ends with its earlier one. */
static struct {
    const void *block;
    uint64_t turn;
    uint32_t size;
} known_copies[KNOWN_COPIES];
static uint64_t turn = 1; /* counts commits */

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
    /* Not in use, so the two stores need no order. */
    journal->data = data;
    journal->capacity = (uint32_t)capacity;
    turn++; /* this spool may lie where another one did, whose copies are known */
    return true;
}

bool tfd_journal_has_room(const struct fold_journal *journal, uint32_t blocks, uint64_t size)
{
    return journal->count + blocks <= TFD_JOURNAL_ENTRIES && journal->used + size <= journal->capacity;
}

static bool is_copied(const void *block, uint32_t size)
{
    uintptr_t address = (uintptr_t)block;
    uint32_t place = (uint32_t)(address >> 4 ^ address >> 12) % KNOWN_COPIES;
    if (known_copies[place].block == block && known_copies[place].turn == turn &&
        known_copies[place].size >= size)
        return true;
    known_copies[place].block = block;
    known_copies[place].turn = turn;
    known_copies[place].size = size;
    return false;
}

void tfd_journal_save(const struct tfd_spool *spool, struct fold_journal *journal, const void *block,
                      uint32_t size)
{
    if (is_copied(block, size))
        return;
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
    keep_order();
    journal->used = 0;
    turn++;
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
