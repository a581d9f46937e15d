/* Bob Jenkins' 64-bit hash of 1997 ("lookup8", in the public domain), with
 * initial value 0. Source: its description in Dr. Dobb's Journal, September
 * 1997, and https://burtleburtle.net/bob/hash/evahash.html */
#include "reader/record_id.h"

#define GOLDEN_RATIO 0x9e3779b97f4a7c13u
#define BLOCK_BYTES 24u

/* One step: x loses y and z and takes bits of z, shifted right or left. */
static uint64_t blend(uint64_t x, uint64_t y, uint64_t z, int right, int left)
{
    return (x - y - z) ^ (right ? z >> right : z << left);
}

static void mix(uint64_t state[3])
{
    static const struct {
        int a_right, b_left, c_right;
    } rounds[4] = {{43, 9, 8}, {38, 23, 5}, {35, 49, 11}, {12, 18, 22}};
    uint64_t a = state[0], b = state[1], c = state[2];
    for (int i = 0; i < 4; i++) {
        a = blend(a, b, c, rounds[i].a_right, 0);
        b = blend(b, c, a, 0, rounds[i].b_left);
        c = blend(c, a, b, rounds[i].c_right, 0);
    }
    state[0] = a;
    state[1] = b;
    state[2] = c;
}

/* Return up to 8 bytes as a number, the first byte lowest. */
static uint64_t little_endian(const unsigned char *bytes, size_t count)
{
    uint64_t value = 0;
    for (size_t i = 0; i < count; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

static size_t within(size_t count, size_t skipped, size_t limit)
{
    size_t left = count > skipped ? count - skipped : 0;
    return left < limit ? left : limit;
}

uint64_t tfd_record_id(const char *path, size_t length)
{
    const unsigned char *bytes = (const unsigned char *)path;
    uint64_t state[3] = {0, 0, GOLDEN_RATIO};
    size_t left = length;
    for (; left >= BLOCK_BYTES; left -= BLOCK_BYTES, bytes += BLOCK_BYTES) {
        for (int word = 0; word < 3; word++)
            state[word] += little_endian(bytes + 8 * word, 8);
        mix(state);
    }
    state[0] += little_endian(bytes, within(left, 0, 8));
    if (left > 8)
        state[1] += little_endian(bytes + 8, within(left, 8, 8));
    /* the length has the lowest byte of the last word */
    if (left > 16)
        state[2] += little_endian(bytes + 16, within(left, 16, 7)) << 8;
    state[2] += length;
    mix(state);
    return state[2];
}
