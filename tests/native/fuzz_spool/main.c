/* A spool with changes that libFuzzer chooses: the reader leaves out what it cannot read, and never crashes. */
#define _GNU_SOURCE
#include "fuzz.h"
#include "whole_spool.h"

#define CALLS 300

static struct fuzz_file files[KIND_COUNT];
static struct fuzz_part roots[KIND_COUNT];

static size_t root_of(const uint8_t *bytes)
{
    return (size_t)atomic_load(&((const struct tfd_spool_header *)(const void *)bytes)->fold);
}

static void fuzz_begin(const char *directory)
{
    char path[PATH_MAX];
    check_spool_path(path, directory, getpid());
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        size_t size;
        build(directory, (enum kind)kind, CALLS);
        read_everything(path);
        uint8_t *whole = (uint8_t *)load(path, &size);
        fuzz_file_make(&files[kind], whole, size);
        roots[kind] = (struct fuzz_part){root_of(whole), offsetof(struct fold_root, other_failures)};
        CHECK(unlink(path) == 0);
    }
}

/* Where most of what leads elsewhere is: the header and the root of the counters. */
static void fuzz_one(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {data, size};
    enum kind kind = (enum kind)(fuzz_number(&input, 1) % KIND_COUNT);
    struct fuzz_part parts[] = {{0, sizeof(struct tfd_spool_header)}, roots[kind]};
    fuzz_change(&files[kind], parts, roots[kind].begin ? 2 : 1, &input);
    read_everything(files[kind].path);
    fuzz_file_restore(&files[kind]);
}
