/* Undo journal of the event being folded.
 *
 * Folding changes several blocks, and SIGKILL may come between any two
 * stores. So each block is copied here before it is changed, and the store
 * that advances the chunk's `folded` commits. A reader that finds the
 * journal in use, for an event that was not committed, puts the copies back.
 *
 * Only the order of this thread's stores matters, not their visibility to
 * other CPUs: what was stored when the process died is in the file. */
#ifndef TFD_FOLD_JOURNAL_H
#define TFD_FOLD_JOURNAL_H

#include "spool/spool.h"

#define TFD_JOURNAL_ENTRIES 32u
#define TFD_JOURNAL_BYTES 4096u

struct fold_journal_entry {
    uint64_t offset; /* of the block */
    uint32_t size;   /* bytes */
    uint32_t place;  /* of its copy in the data */
};

struct fold_journal {
    uint64_t chunk; /* offset of the chunk, and index in it, of the event being folded */
    uint32_t index;
    uint32_t count; /* entries; 0 = not in use */
    uint64_t data;  /* offset of the copies: capacity bytes */
    uint32_t capacity, used;
    struct fold_journal_entry entries[TFD_JOURNAL_ENTRIES];
};

/* Makes room for `size` bytes of copies. False when the arena is full. */
bool tfd_journal_reserve(struct tfd_spool *spool, struct fold_journal *journal, uint64_t size);

void tfd_journal_begin(struct fold_journal *journal, uint64_t chunk, uint32_t index);
void tfd_journal_save(const struct tfd_spool *spool, struct fold_journal *journal, const void *block,
                      uint32_t size);
void tfd_journal_end(struct fold_journal *journal);

/* Puts back what the event changed. */
void tfd_journal_undo(const struct tfd_spool *spool, struct fold_journal *journal);

#endif
