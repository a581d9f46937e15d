/* A spool with random bytes in it: the reader leaves out what it cannot read and never crashes.
 * TFD_DAMAGE_RUNS in the environment sets how many spools are tried, TFD_DAMAGE_SEED which. */
#define _GNU_SOURCE
#include "whole_spool.h"

#define CALLS 3000

/* Half of them in the header and the root of the counters, where most of what leads elsewhere is. */
static size_t place_to_damage(const char *bytes, size_t size)
{
    struct tfd_spool_header header;
    memcpy(&header, bytes, sizeof header);
    uint64_t root = atomic_load(&header.fold), root_bytes = offsetof(struct fold_root, other_failures);
    switch (below(4)) {
    case 0:
        return 8 + below(sizeof header - 8);
    case 1:
        if (root && root < size && root_bytes < size - root)
            return root + below(root_bytes);
        __attribute__((fallthrough));
    default:
        return below(size);
    }
}

static void damage(char *bytes, size_t size)
{
    uint64_t changes = 1 + below(12);
    for (uint64_t i = 0; i < changes; i++) {
        size_t place = place_to_damage(bytes, size);
        switch (below(4)) {
        case 0:
            bytes[place] ^= (char)(1u << below(8));
            break;
        case 1:
            bytes[place] = (char)below(256);
            break;
        case 2: /* a plausible offset */
            place &= ~(size_t)7;
            *(uint64_t *)(void *)(bytes + place) = below(size) & ~(uint64_t)(below(2) ? 15 : 0);
            break;
        default: /* an extreme number */
            place &= ~(size_t)7;
            *(uint64_t *)(void *)(bytes + place) = UINT64_MAX >> below(64);
        }
    }
}

static void store(const char *path, const char *bytes, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK(fd >= 0 && write(fd, bytes, size) == (ssize_t)size && close(fd) == 0);
}

static uint64_t setting(const char *name, uint64_t otherwise)
{
    const char *value = getenv(name);
    return value ? strtoull(value, NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    char path[TFD_SPOOL_PATH_MAX];
    snprintf(path, sizeof path, "%s/%d.spool", argv[1], (int)getpid());
    uint64_t runs = setting("TFD_DAMAGE_RUNS", 300), seed = setting("TFD_DAMAGE_SEED", 1);
    random_state = seed * 0x9e3779b97f4a7c15u + 1;
    size_t size = 0;
    char *whole = NULL;
    for (uint64_t run = 0; run < runs; run++) {
        if (run % 100 == 0) {
            free(whole);
            build(argv[1], (enum kind)(run / 100 % KIND_COUNT), CALLS);
            read_everything(path);
            whole = load(path, &size);
        }
        size_t left = below(8) ? size : below(size + 1);
        char *bytes = malloc(left + 8); /* the last change may reach over the end */
        CHECK(bytes);
        memcpy(bytes, whole, left);
        if (left > sizeof(struct tfd_spool_header))
            damage(bytes, left);
        store(path, bytes, left);
        free(bytes);
        read_everything(path);
    }
    free(whole);
    return 0;
}
