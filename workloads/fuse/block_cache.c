#include "block_cache.h"

#include <stdlib.h>

enum { BLOCK = 64 << 10 };

struct block {
    uint64_t file;
    uint64_t number;
    uint64_t used; /* 0: holds nothing */
};

/* A few thousand at the most: looking at all of them takes microseconds, and a miss milliseconds. */
static struct block *blocks;
static size_t count;
static uint64_t uses;

void block_cache_create(size_t bytes)
{
    count = bytes / BLOCK;
    blocks = calloc(count ? count : 1, sizeof *blocks);
    if (!blocks)
        count = 0;
}

static int take_block(uint64_t file, uint64_t number)
{
    struct block *oldest = blocks;
    for (struct block *block = blocks; block < blocks + count; block++) {
        if (block->used && block->file == file && block->number == number) {
            block->used = ++uses;
            return 1;
        }
        if (block->used < oldest->used)
            oldest = block;
    }
    *oldest = (struct block){.file = file, .number = number, .used = ++uses};
    return 0;
}

size_t block_cache_take(uint64_t file, off_t offset, size_t bytes)
{
    if (!count)
        return bytes;
    size_t missing = 0;
    uint64_t at = (uint64_t)offset;
    uint64_t end = at + bytes;
    while (at < end) {
        uint64_t next = (at / BLOCK + 1) * BLOCK;
        uint64_t stop = next < end ? next : end;
        if (!take_block(file, at / BLOCK))
            missing += (size_t)(stop - at);
        at = stop;
    }
    return missing;
}
