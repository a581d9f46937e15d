#define _GNU_SOURCE
#include "darshan/known.h"

#include <sys/mman.h>

#define DISTRUSTED UINT32_MAX /* not a generation */

_Atomic uint32_t *tfd_known_descriptor, *tfd_known_stream;
static _Atomic uint32_t *aliases; /* Darshan's entries for a descriptor after the first, one per fileno */
static uint64_t *entry_of;        /* meaning of a descriptor when fileno told Darshan of it */
static FILE **stream_on;          /* streams that Darshan knows, by descriptor */
_Atomic int tfd_known_highest;

static void *new_table(size_t entry_bytes)
{
    void *memory = mmap(NULL, TFD_MAX_DESCRIPTORS * entry_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

bool tfd_known_prepare(void)
{
    tfd_known_descriptor = new_table(sizeof *tfd_known_descriptor);
    tfd_known_stream = new_table(sizeof *tfd_known_stream);
    aliases = new_table(sizeof *aliases);
    entry_of = new_table(sizeof *entry_of);
    stream_on = new_table(sizeof *stream_on);
    return tfd_known_descriptor && tfd_known_stream && aliases && entry_of && stream_on;
}

static void know(_Atomic uint32_t *table, int fd, uint32_t generation)
{
    if ((unsigned)fd >= TFD_MAX_DESCRIPTORS)
        return;
    int highest = atomic_load_explicit(&tfd_known_highest, memory_order_relaxed);
    while (generation && fd > highest && !atomic_compare_exchange_weak(&tfd_known_highest, &highest, fd))
        ;
    atomic_store_explicit(&table[fd], generation, memory_order_relaxed);
}

/* If Darshan still has an entry of the number's old meaning, it has two now, and a close removes both. */
void tfd_known_gain_slowly(int fd)
{
    if (known_ever(tfd_known_descriptor, fd))
        atomic_fetch_add(&aliases[fd], 1);
    know(tfd_known_descriptor, fd, tfd_gate_passed_in);
}

void tfd_known_gain_stream(FILE *stream)
{
    int fd = tfd_descriptor_of(stream);
    if ((unsigned)fd >= TFD_MAX_DESCRIPTORS)
        return;
    stream_on[fd] = stream;
    know(tfd_known_stream, fd, tfd_gate_passed_in);
}

static uint64_t meaning_of(int fd)
{
    return atomic_load_explicit(&tfd_descriptor_at(fd)->word, memory_order_relaxed);
}

void tfd_known_gain_alias(int fd)
{
    tfd_known_gain(fd);
    if ((unsigned)fd < TFD_MAX_DESCRIPTORS)
        entry_of[fd] = meaning_of(fd);
}

static void distrust(_Atomic uint32_t *table, int fd)
{
    if (known_ever(table, fd))
        atomic_store_explicit(&table[fd], DISTRUSTED, memory_order_relaxed);
}

void tfd_known_distrust(int fd)
{
    distrust(tfd_known_descriptor, fd);
}

/* Darshan would forget the descriptor after the real close. By then another
 * thread may have the number, and its file would be forgotten instead. So
 * Darshan is told first, with a real close that does nothing, and then the
 * descriptor is closed. */
void tfd_known_drop(int fd)
{
    uint32_t entries = 1;
    if (atomic_load_explicit(&aliases[fd], memory_order_relaxed))
        entries += atomic_exchange(&aliases[fd], 0);
    know(tfd_known_descriptor, fd, 0);
    for (; entries; entries--) {
        gate_enter(TFD_HOOK_close);
        tfd_gate_passage.dropping = true;
        TFD_DARSHAN_WRAPPER(close)(fd);
        gate_leave();
    }
}

/* The same holds for streams: the next fopen may get the same address. */
void tfd_known_drop_stream(int fd)
{
    FILE *stream = stream_on[fd];
    know(tfd_known_stream, fd, 0);
    gate_enter(TFD_HOOK_fclose);
    tfd_gate_passage.dropping = true;
    TFD_DARSHAN_WRAPPER(fclose)(stream);
    gate_leave();
}

/* Darshan would have two entries for the number, and find the older one once
 * its table has grown: bytes would count for another file. Telling it is not
 * part of the current call. */
void tfd_known_drop_entries(int fd)
{
    struct tfd_gate_passage outer = tfd_gate_passage;
    uint64_t recorded = tfd_darshan_recorded;
    int saved_errno = errno;
    tfd_known_drop(fd);
    tfd_darshan_recorded = recorded;
    tfd_gate_passage = outer;
    errno = saved_errno;
}

/* If it is the same file again, the new entry is for the same record. */
void tfd_known_drop_other_file(int fd)
{
    if (known_ever(tfd_known_descriptor, fd) && entry_of[fd] != meaning_of(fd))
        tfd_known_drop_entries(fd);
}

/* Darshan keeps a descriptor or stream whose end it is not told, and would find
 * either the old meaning or the new one under the number. Telling it is not
 * part of the current call, which has its own time. */
static void drop(int fd)
{
    uint64_t recorded = tfd_darshan_recorded;
    bool owed = tfd_is_owed();
    int saved_errno = errno;
    if (known_ever(tfd_known_stream, fd))
        tfd_known_drop_stream(fd);
    if (known_ever(tfd_known_descriptor, fd))
        tfd_known_drop(fd);
    tfd_darshan_recorded = recorded;
    tfd_set_owed(owed);
    errno = saved_errno;
}

/* The range ends with the largest number that Darshan has known. */
void tfd_darshan_forget_range(unsigned first, unsigned last)
{
    if (!tfd_darshan_attached || !tfd_known_descriptor || tfd_memory_is_lent())
        return;
    unsigned highest = (unsigned)atomic_load(&tfd_known_highest);
    for (unsigned fd = first; fd <= last && fd <= highest; fd++) {
        if (!tfd_gate_passage.hook && gate_generation())
            drop((int)fd);
        distrust(tfd_known_descriptor, (int)fd); /* a signal handler inside Darshan can do no more */
        distrust(tfd_known_stream, (int)fd);
    }
}

/* Each close of a file calls this after Darshan was told of the close, so there is usually nothing left to forget. */
void tfd_darshan_forget(int fd)
{
    if (tfd_darshan_attached && tfd_known_descriptor && tfd_known_at_all(fd))
        tfd_darshan_forget_range((unsigned)fd, (unsigned)fd);
}

void tfd_known_sweep(void)
{
    int highest = tfd_known_descriptor ? atomic_load(&tfd_known_highest) : -1;
    for (int fd = 0; fd <= highest; fd++)
        drop(fd);
}
