/* The cache of the storage's server: blocks of files, the least recently used go first. Not thread-safe. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

void block_cache_create(size_t bytes);

/* Gives how many bytes of a range are not held, and holds their blocks from now on. */
size_t block_cache_take(uint64_t file, off_t offset, size_t bytes);
