/* Undo journal of the events being folded.
 *
 * Folding changes several blocks, and SIGKILL may come between any two
 * stores. So each block is copied here before it is changed, and the chunk's
 * `folded` is one of them. The store of `count` then commits all events since
 * the last one: calls that follow each other change the same blocks, which are
 * copied once for all of them. A reader that finds the journal in use puts the
 * copies back, the last one first.
 *
 * Only the order of this thread's stores matters, not their visibility to
 * other CPUs: what was stored when the process died is in the file. One spool
 * of a process is folded at a time, by one thread. */
#ifndef TFD_FOLD_JOURNAL_H
#define TFD_FOLD_JOURNAL_H

#include "spool/spool.h"

#define TFD_JOURNAL_ENTRIES 256u
#define TFD_JOURNAL_BYTES 8192u

struct fold_journal_entry {
    uint64_t offset; /* of the block */
    uint32_t size;   /* bytes */
    uint32_t place;  /* of its copy in the data */
};

struct fold_journal {
    uint64_t data; /* offset of the copies: capacity bytes */
    uint32_t capacity, used;
    uint32_t count; /* entries; 0 = not in use */
    uint32_t reserved;
    struct fold_journal_entry entries[TFD_JOURNAL_ENTRIES];
};

/* Makes room for `size` bytes of copies, in a journal that is not in use. False when the arena is full. */
bool tfd_journal_reserve(struct tfd_spool *spool, struct fold_journal *journal, uint64_t size);

/* False where `blocks` blocks of `size` bytes together do not fit beside what is in it. */
bool tfd_journal_has_room(const struct fold_journal *journal, uint32_t blocks, uint64_t size);

/* Copies a block, if no copy since the last commit is known. */
void tfd_journal_save(const struct tfd_spool *spool, struct fold_journal *journal, const void *block,
                      uint32_t size);
/* Commits what was folded. */
void tfd_journal_end(struct fold_journal *journal);

/* Puts back what was not committed. */
void tfd_journal_undo(const struct tfd_spool *spool, struct fold_journal *journal);

#endif
