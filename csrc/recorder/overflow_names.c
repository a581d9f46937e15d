#define _GNU_SOURCE
#include "recorder/overflow_names.h"

#include <stddef.h>
#include <sys/mman.h>

#include "tfdarshan.h"

#define FIRST_SIZE 4096u

/* A hash table with open addressing in private memory: 16 MiB if it is full, nothing while there is room for all files.
 * Hash 0 means a free place, so a name with that hash is never new. */
static uint64_t *hashes;
static uint32_t size, count;

static uint64_t *new_table(uint32_t places)
{
    void *memory = mmap(NULL, places * sizeof(uint64_t), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

void tfd_overflow_names_reset(void)
{
    if (hashes)
        munmap(hashes, size * sizeof(uint64_t));
    hashes = NULL;
    size = count = 0;
}

/* Return the place of a hash, or the free place for it. */
static uint64_t *find(uint64_t *table, uint32_t places, uint64_t hash)
{
    uint32_t at = (uint32_t)hash & (places - 1);
    while (table[at] && table[at] != hash)
        at = (at + 1) & (places - 1);
    return &table[at];
}

/* Make room so that half of the table stays free. */
static bool make_room(void)
{
    if (count < size / 2)
        return true;
    uint32_t larger_size = size ? 2 * size : FIRST_SIZE, smaller_size = size;
    uint64_t *larger = new_table(larger_size), *smaller = hashes;
    if (!larger)
        return false;
    for (uint32_t i = 0; i < smaller_size; i++)
        if (smaller[i])
            *find(larger, larger_size, smaller[i]) = smaller[i];
    hashes = larger;
    size = larger_size;
    if (smaller)
        munmap(smaller, smaller_size * sizeof(uint64_t));
    return true;
}

bool tfd_overflow_name_is_known(uint64_t hash)
{
    return count && *find(hashes, size, hash);
}

bool tfd_overflow_name_is_new(uint64_t hash)
{
    if (!hash || count >= TFD_OVERFLOW_NAMES || !make_room())
        return false;
    uint64_t *place = find(hashes, size, hash);
    if (*place)
        return false;
    *place = hash;
    count++;
    return true;
}
