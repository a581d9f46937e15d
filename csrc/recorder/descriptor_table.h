/* The file of each descriptor of this process. Streams are identified by their
 * descriptor, so both share the table. An entry belongs to one session: the next
 * session looks everything up again. */
#ifndef TFD_DESCRIPTOR_TABLE_H
#define TFD_DESCRIPTOR_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define TFD_MAX_DESCRIPTORS (1 << 21)

/* A file id, or TFD_OTHER_BIT | enum tfd_other_kind. */
typedef uint32_t tfd_target;
#define TFD_OTHER_BIT 0x80000000u

struct tfd_slot;

/* State of a stream's buffer after its last recorded call, see stream_marks.h. */
struct tfd_stream_marks {
    _Atomic(FILE *) stream; /* NULL: none yet */
    _Atomic(struct tfd_slot *) user;
    _Atomic(const char *) read_at, write_at; /* a thread inside a call may still write its own */
};

/* Where the next read() or write() begins. Duplicates share a position, as in the kernel. Each position has its own
 * cache line: otherwise threads that read their own files would contend for one. */
struct tfd_position {
    _Atomic int64_t offset;
    _Atomic int64_t requested_end; /* end of the file after the appends under way; 0: there are none */
    _Atomic uint32_t appends;      /* O_APPEND: a write begins at the end of the file */
    uint32_t references;
    uint32_t next_free; /* place + 1 of the next free position; not in `offset`, to which a thread that raced
                         * with a close may still add */
    struct tfd_stream_marks marks;
} __attribute__((aligned(64)));

struct tfd_descriptor {
    _Atomic uint64_t word; /* generation << 32 | target; 0 = unknown */
    _Atomic(struct tfd_position *) position;
    _Atomic uint32_t place; /* place of the position + 1 */
};

/* A thread may read the entry while another thread gets the number: a close after the slots were restored is not
 * seen. */
static inline struct tfd_position *tfd_position_of(struct tfd_descriptor *descriptor)
{
    return atomic_load_explicit(&descriptor->position, memory_order_relaxed);
}

extern struct tfd_descriptor *tfd_descriptors;

static inline struct tfd_descriptor *tfd_descriptor_at(int fd)
{
    return (unsigned)fd < TFD_MAX_DESCRIPTORS ? &tfd_descriptors[fd] : 0;
}

static inline uint64_t tfd_word(uint32_t generation, tfd_target target)
{
    return (uint64_t)generation << 32 | target;
}

static inline bool tfd_word_is_current(uint64_t word, uint32_t generation)
{
    return (uint32_t)(word >> 32) == generation;
}

static inline bool tfd_word_is_file(uint64_t word, uint32_t generation)
{
    return tfd_word_is_current(word, generation) && !(word & TFD_OTHER_BIT);
}

/* For all functions below the caller holds tfd_tables_lock. */
int tfd_descriptors_initialize(void); /* once per process; -errno */
void tfd_positions_reset(void);       /* at session start */
/* Return the number of positions in use. Needs no lock, since they are never freed. */
uint32_t tfd_positions_used(void);
struct tfd_position *tfd_position_in(uint32_t place);
void tfd_descriptor_set(int fd, uint32_t generation, tfd_target target, int64_t offset, bool appends);
void tfd_descriptor_share(int old_fd, int new_fd, uint32_t generation);
uint64_t tfd_descriptor_forget(int fd, uint32_t generation);
void tfd_descriptor_forget_range(unsigned first, unsigned last, uint32_t generation);
/* Needs no lock: the entries' positions stay in use until the session ends. */
void tfd_descriptor_drop_range(unsigned first, unsigned last);

#endif
