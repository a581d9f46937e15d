#include "hooks/hook_index.h"

#include <string.h>

#define INDEX_SIZE 1024u /* a power of two, several times TFD_HOOK_COUNT */

static struct indexed {
    const char *name; /* NULL: free */
    unsigned hook;
} index_of_hash[INDEX_SIZE];
static uint64_t first_letters[4]; /* bit set: some symbol begins with this byte */

static uint32_t hash(const char *name)
{
    uint32_t value = 2166136261u;
    for (; *name; name++)
        value = (value ^ (unsigned char)*name) * 16777619u;
    return value;
}

void tfd_hook_index_build(void)
{
    memset(index_of_hash, 0, sizeof index_of_hash);
    for (unsigned hook = 0; hook < TFD_HOOK_COUNT; hook++)
        tfd_hook_index_add(tfd_hooks[hook].symbol, hook);
}

void tfd_hook_index_add(const char *name, unsigned hook)
{
    uint32_t place = hash(name) % INDEX_SIZE;
    while (index_of_hash[place].name)
        place = (place + 1) % INDEX_SIZE;
    index_of_hash[place] = (struct indexed){name, hook};
    unsigned char first = (unsigned char)name[0];
    first_letters[first / 64] |= 1ull << (first % 64);
}

int tfd_hook_by_name(const char *name)
{
    unsigned char first = (unsigned char)name[0];
    /* most symbols are mangled C++ names */
    if (!(first_letters[first / 64] >> (first % 64) & 1) || (first == '_' && name[1] == 'Z'))
        return -1;
    for (uint32_t place = hash(name) % INDEX_SIZE; index_of_hash[place].name;
         place = (place + 1) % INDEX_SIZE)
        if (!strcmp(index_of_hash[place].name, name))
            return (int)index_of_hash[place].hook;
    return -1;
}
