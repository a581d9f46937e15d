#define _GNU_SOURCE
#include "recorder/descriptor_table.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

#include "base/error.h"

#define POSITIONS_PER_BLOCK 4096u
#define MAX_BLOCKS (TFD_MAX_DESCRIPTORS / POSITIONS_PER_BLOCK)

struct tfd_descriptor *tfd_descriptors;

static unsigned entries_end; /* entries from here on were never set */

/* Positions are in blocks that are never freed. */
static struct tfd_position *blocks[MAX_BLOCKS];
static uint32_t positions_used;
static uint32_t first_free;               /* place + 1, 0 = none */
static struct tfd_position lost_position; /* used if there is no memory: only offsets are wrong then */

static void *reserve(size_t bytes)
{
    void *memory =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

int tfd_descriptors_initialize(void)
{
    if (!tfd_descriptors)
        tfd_descriptors = reserve(TFD_MAX_DESCRIPTORS * sizeof *tfd_descriptors);
    return tfd_descriptors ? 0 : tfd_fail(ENOMEM, "no address space for the table of descriptors");
}

void tfd_positions_reset(void)
{
    positions_used = 0;
    first_free = 0;
}

struct tfd_position *tfd_position_in(uint32_t place)
{
    return &blocks[place / POSITIONS_PER_BLOCK][place % POSITIONS_PER_BLOCK];
}

uint32_t tfd_positions_used(void)
{
    return __atomic_load_n(&positions_used, __ATOMIC_ACQUIRE);
}

static uint32_t take_position(void)
{
    uint32_t place = first_free;
    if (place) {
        first_free = tfd_position_in(place - 1)->next_free;
        return place;
    }
    uint32_t block = positions_used / POSITIONS_PER_BLOCK;
    if (block == MAX_BLOCKS)
        return 0;
    if (!blocks[block])
        blocks[block] = reserve(POSITIONS_PER_BLOCK * sizeof **blocks);
    return blocks[block] ? ++positions_used : 0;
}

static void drop_position(uint32_t place)
{
    if (!place || --tfd_position_in(place - 1)->references)
        return;
    tfd_position_in(place - 1)->next_free = first_free;
    first_free = place;
}

uint64_t tfd_descriptor_forget(int fd, uint32_t generation)
{
    struct tfd_descriptor *descriptor = tfd_descriptor_at(fd);
    if (!descriptor)
        return 0;
    uint64_t word = atomic_exchange(&descriptor->word, 0);
    if (!tfd_word_is_current(word, generation))
        return 0;
    if (tfd_word_is_file(word, generation))
        drop_position(descriptor->place);
    return word;
}

static unsigned end_of_range(unsigned last)
{
    return last < entries_end ? last + 1 : entries_end;
}

void tfd_descriptor_forget_range(unsigned first, unsigned last, uint32_t generation)
{
    for (unsigned fd = first; fd < end_of_range(last); fd++)
        tfd_descriptor_forget((int)fd, generation);
}

void tfd_descriptor_drop_range(unsigned first, unsigned last)
{
    for (unsigned fd = first; fd < end_of_range(last); fd++)
        atomic_store(&tfd_descriptors[fd].word, 0);
}

static void publish(int fd, uint64_t word)
{
    if ((unsigned)fd >= entries_end)
        entries_end = (unsigned)fd + 1;
    atomic_store_explicit(&tfd_descriptors[fd].word, word, memory_order_release);
}

void tfd_descriptor_set(int fd, uint32_t generation, tfd_target target, int64_t offset, bool appends)
{
    struct tfd_descriptor *descriptor = tfd_descriptor_at(fd);
    if (!descriptor)
        return;
    tfd_descriptor_forget(fd, generation);
    if (!(target & TFD_OTHER_BIT)) {
        descriptor->place = take_position();
        struct tfd_position *position =
            descriptor->place ? tfd_position_in(descriptor->place - 1) : &lost_position;
        position->references = 1;
        atomic_store(&position->offset, offset);
        atomic_store(&position->requested_end, 0);
        atomic_store(&position->appends, appends);
        atomic_store(&position->marks.stream, NULL);
        atomic_store(&position->marks.user, NULL);
        atomic_store_explicit(&descriptor->position, position, memory_order_relaxed);
    }
    publish(fd, tfd_word(generation, target));
}

void tfd_descriptor_share(int old_fd, int new_fd, uint32_t generation)
{
    struct tfd_descriptor *old = tfd_descriptor_at(old_fd), *new = tfd_descriptor_at(new_fd);
    if (!old || !new || old == new)
        return;
    uint64_t word = atomic_load(&old->word);
    tfd_descriptor_forget(new_fd, generation);
    if (!tfd_word_is_current(word, generation))
        return;
    if (tfd_word_is_file(word, generation)) {
        struct tfd_position *position = tfd_position_of(old);
        position->references++;
        atomic_store_explicit(&new->position, position, memory_order_relaxed);
        new->place = old->place;
    }
    publish(new_fd, word);
}
