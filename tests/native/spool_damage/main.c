/* A spool with random bytes in it: the reader leaves out what it cannot read and never crashes.
 * TFD_DAMAGE_RUNS in the environment sets how many spools are tried, TFD_DAMAGE_SEED which. */
#define _GNU_SOURCE
#include <sys/stat.h>

#include "counters/fold_state.h"
#include "spool_builder.h"

#define FILES 40
#define MOST_ROWS 64

static uint64_t random_state;

/* xorshift64* of Marsaglia and Vigna: the same spools on every machine. */
static uint64_t random_number(void)
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return random_state * 2685821657736338717u;
}

static uint64_t below(uint64_t limit)
{
    return random_number() % limit;
}

static void add_random_call(struct tfd_spool *spool, uint32_t thread, uint64_t now)
{
    struct tfd_event event = {.start = BUILDER_START + now,
                              .end = BUILDER_START + now + below(300),
                              .offset = (int64_t)below(100000),
                              .length = (int64_t)below(3000),
                              .file = (uint32_t)below(FILES + 2),
                              .operation = (uint8_t)below(TFD_OPERATION_COUNT)};
    if (below(20) == 0)
        event.error = (uint16_t)(1 + below(40));
    if (event.operation == TFD_OP_RENAME)
        event.offset = (int64_t)below(FILES);
    builder_event(spool, thread, event);
}

/* Who folds: the reader alone, the process a part of it, with recycled chunks, or the process all of it. */
enum kind { READER_FOLDS, PROCESS_FOLDS_SOME, PROCESS_FOLDS_ALL, KIND_COUNT };

static void build(const char *directory, enum kind kind)
{
    struct tfd_spool spool;
    builder_create(&spool, directory, 4u << 20);
    builder_mount(&spool, "/", 4096);
    for (int i = 0; i < FILES; i++)
        builder_file(&spool, "/some/file", 0);
    uint32_t threads[4];
    for (int i = 0; i < 4; i++)
        threads[i] = builder_thread(&spool, i);
    for (uint64_t i = 0; i < 3000; i++)
        add_random_call(&spool, threads[below(4)], 100 * i);
    if (kind == PROCESS_FOLDS_ALL)
        CHECK(tfd_drain(&spool, UINT64_MAX) == 3000);
    if (kind == PROCESS_FOLDS_SOME) {
        CHECK(tfd_drain(&spool, 2000) == 2000);
        tfd_thread_at(&spool, threads[0])->events_dropped = 100;
        /* as if killed while folding: the journal is in use, for an event that was not committed */
        struct fold_root *root = tfd_at(&spool, atomic_load(&spool.header->fold));
        struct tfd_chunk *chunk = tfd_at(&spool, root->journal.chunk);
        root->journal.index = atomic_load(&chunk->folded);
        tfd_journal_save(&spool, &root->journal, &root->totals, sizeof root->totals);
    }
    if (kind == PROCESS_FOLDS_ALL || below(2))
        builder_stop(&spool, 1000000);
    else
        tfd_spool_unmap(&spool);
}

static void read_everything(const char *path)
{
    struct tfd_reader *reader = tfd_reader_open(path);
    if (!reader) {
        CHECK(tfd_last_error()[0]);
        return;
    }
    struct tfd_spool_info info;
    struct tfd_thread_info thread;
    struct tfd_mount_info mount;
    struct tfd_failure failures[8];
    struct file_row row;
    CHECK(tfd_reader_info(reader, &info) == 0);
    size_t bytes = strlen(info.host) + strlen(info.command), length;
    for (uint64_t i = 0; i < info.threads; i++)
        CHECK(tfd_reader_thread(reader, i, &thread) == 0 && strlen(thread.name) < sizeof thread.name);
    for (uint64_t i = 0; i < info.mount_count; i++) {
        CHECK(tfd_reader_mount(reader, i, &mount) == 0);
        bytes += strlen(mount.point) + strlen(mount.fs_type) + strlen(mount.source);
    }
    for (uint64_t i = 0; next_row(reader, i, &row); i++) {
        const char *name = tfd_reader_path(reader, row.file, &length);
        for (size_t j = 0; name && j < length; j++)
            bytes += (unsigned char)name[j];
    }
    tfd_reader_failures(reader, failures, 8);
    static int64_t numbers[4][256];
    static int32_t tids[256];
    static uint32_t files[256];
    static int16_t errors[256];
    static uint8_t small[2][256];
    struct tfd_event_batch batch = {numbers[0], numbers[1], tids,       small[0],  small[1],
                                    errors,     files,      numbers[2], numbers[3]};
    uint64_t segments = 0;
    for (size_t rows; (rows = tfd_reader_events(reader, segments, 256, &batch)); segments += rows)
        ;
    CHECK(segments == info.segments && bytes + 1 > 0);
    tfd_reader_close(reader);
}

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

static char *load(const char *path, size_t *size)
{
    int fd = open(path, O_RDONLY);
    struct stat status;
    CHECK(fd >= 0 && fstat(fd, &status) == 0);
    struct tfd_spool_header header;
    CHECK(pread(fd, &header, sizeof header, 0) == sizeof header);
    *size = atomic_load(&header.used_bytes);
    char *bytes = malloc(*size);
    CHECK(bytes && pread(fd, bytes, *size, 0) == (ssize_t)*size);
    close(fd);
    return bytes;
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
            build(argv[1], (enum kind)(run / 100 % KIND_COUNT));
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
