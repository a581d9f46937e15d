#include "offline/lmdb/records.h"

#include <stdlib.h>
#include <string.h>

/* Make room for `more` items of `size` bytes after `count`; return 0, or -1 if there is no memory. */
static int grow(void **items, size_t *room, size_t count, size_t more, size_t size)
{
    if (count + more <= *room)
        return 0;
    size_t wanted = *room + *room / 2 + more + 64;
    void *grown = realloc(*items, wanted * size);
    if (!grown)
        return -1;
    *items = grown;
    *room = wanted;
    return 0;
}

int tfd_lmdb_add_record(struct tfd_lmdb_found *found, const struct tfd_lmdb_record *record)
{
    if (grow((void **)&found->records, &found->room, found->count, 1, sizeof *record))
        return -1;
    found->records[found->count++] = *record;
    return 0;
}

int tfd_lmdb_add_key(struct tfd_lmdb_found *found, const void *key, size_t size)
{
    if (grow((void **)&found->keys, &found->key_room, found->key_bytes, size, 1))
        return -1;
    if (size)
        memcpy(found->keys + found->key_bytes, key, size);
    found->key_bytes += size;
    return 0;
}

int tfd_lmdb_add_page(struct tfd_lmdb_pages *pages, uint64_t number)
{
    if (grow((void **)&pages->numbers, &pages->room, pages->count, 1, sizeof number))
        return -1;
    pages->numbers[pages->count++] = number;
    return 0;
}

void tfd_lmdb_forget(struct tfd_lmdb_found *found)
{
    free(found->records);
    free(found->keys);
    *found = (struct tfd_lmdb_found){0};
}
