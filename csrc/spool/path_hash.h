/* A hash of a path that distinguishes names with few different characters, wherever these are. */
#ifndef TFD_PATH_HASH_H
#define TFD_PATH_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A product's low half does not depend on its factors' high halves, where the last characters of a word are. So the
 * high half is folded into the low one after each product, and twice more at the end, as in MurmurHash3. */
static inline uint64_t tfd_path_hash(const char *path, size_t length)
{
    uint64_t value = 0x9e3779b97f4a7c15u ^ length, word;
    for (; length >= 8; path += 8, length -= 8) {
        memcpy(&word, path, 8);
        value = (value ^ word) * 0xff51afd7ed558ccdu;
        value ^= value >> 32;
    }
    for (; length; path++, length--)
        value = (value ^ (unsigned char)*path) * 0xff51afd7ed558ccdu;
    value = (value ^ value >> 33) * 0xff51afd7ed558ccdu;
    value = (value ^ value >> 33) * 0xc4ceb9fe1a85ec53u;
    return value ^ value >> 33;
}

#endif
