/* Page faults are charged to the file that was mapped at the time, whatever the address held before or holds later. The
 * program cannot see or close the watcher's descriptors. A child goes on watching. */
#define _GNU_SOURCE
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "children.h"
#include "recorded.h"
#include "spool/mapped_file.h"

#define PAGES 64
#define BYTES (PAGES * 4096)
#define MOST_RINGS 64

static char touched[PATH_MAX], untouched[PATH_MAX], moved[PATH_MAX], inherited[PATH_MAX], locked[PATH_MAX];
static volatile char sum;

static void touch(const char *mapped, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += 4096)
        sum += mapped[at];
}

static char *map(const char *path)
{
    int fd = open(path, O_RDONLY);
    char *mapped = mmap(NULL, BYTES, PROT_READ, MAP_PRIVATE, fd, 0);
    CHECK(fd >= 0 && mapped != MAP_FAILED && !close(fd));
    return mapped;
}

static const struct tfd_mapped_file *find(const struct tfd_spool *spool, const char *path)
{
    const struct tfd_mapped_files *list = tfd_at(spool, atomic_load(&spool->header->mapped_files));
    for (uint64_t at = list->first; at;) {
        const struct tfd_mapped_file *file = tfd_at(spool, at);
        struct tfd_event event = {.file = file->file};
        if (recorded_is_of(spool, &event, path))
            return file;
        at = file->next;
    }
    return NULL;
}

static void skip_unless_watched(const struct tfd_spool *spool)
{
    CHECK(atomic_load(&spool->header->mapped_files));
    const struct tfd_mapped_files *list = tfd_at(spool, atomic_load(&spool->header->mapped_files));
    CHECK(list->watch != TFD_FAULTS_NOT_ASKED);
    if (list->watch == TFD_FAULTS_WATCHED)
        return;
    fprintf(stderr, "page faults cannot be watched here: reason %u, errno %d\n", list->watch, list->error);
    _exit(CHECK_SKIP);
}

/* A busy machine may spend what watching may cost before the file of interest is touched. */
static bool all_seen(const struct tfd_spool *spool)
{
    const struct tfd_mapped_files *list = tfd_at(spool, atomic_load(&spool->header->mapped_files));
    return list->sampled_ns >= list->watched_ns && !list->lost && !list->unpaired;
}

static int open_descriptors(void)
{
    int count = 0;
    for (int fd = 0; fd < 1024; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

/* One file is touched and the other one not; the kernel gives both the same addresses. */
static void reuse_addresses(long cycles)
{
    for (long i = 0; i < cycles; i++) {
        char *first = map(touched);
        touch(first, BYTES);
        CHECK(!munmap(first, BYTES));
        char *second = map(untouched);
        CHECK(!munmap(second, BYTES));
    }
}

/* A lock belongs to the open file: it ends with the program's last use of that, whoever else looks at the file. */
static void unlock_by_close(void)
{
    int fd = open(locked, O_RDWR);
    CHECK(fd >= 0 && !flock(fd, LOCK_EX));
    char *mapped = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, fd, 0);
    CHECK(mapped != MAP_FAILED && !close(fd));
    touch(mapped, BYTES);
    CHECK(!munmap(mapped, BYTES));
    int other = open(locked, O_RDWR);
    CHECK(other >= 0 && !flock(other, LOCK_EX | LOCK_NB));
    CHECK(!close(other));
}

/* Half of a mapping goes elsewhere, and another file comes in its place. */
static void move_mapping(void)
{
    char *room = mmap(NULL, BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *mapped = map(moved);
    char *there = mremap(mapped + BYTES / 2, BYTES / 2, BYTES / 2, MREMAP_MAYMOVE | MREMAP_FIXED, room);
    int fd = open(untouched, O_RDONLY);
    CHECK(there == room && fd >= 0);
    CHECK(mmap(mapped + BYTES / 2, BYTES / 2, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) != MAP_FAILED);
    touch(there, BYTES / 2);
    CHECK(!munmap(mapped, BYTES) && !munmap(there, BYTES / 2) && !close(fd));
}

/* Where the parent's rings are, which a child does not have: what it maps there must stay. */
static size_t fill_rings(char **rings, size_t most, bool is_child)
{
    char line[512];
    size_t count = 0;
    FILE *maps = is_child ? NULL : fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps) && count < most)
        if (strstr(line, "[perf_event]"))
            rings[count++] = (char *)strtoul(line, NULL, 16);
    if (maps)
        fclose(maps);
    for (size_t i = 0; is_child && i < most; i++) {
        int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
        CHECK(mmap(rings[i], 4096, PROT_READ | PROT_WRITE, flags, -1, 0) == rings[i]);
        *rings[i] = 1;
    }
    return count;
}

static void be_child(const char *mapped, char **rings, size_t ring_count)
{
    struct tfd_attach_report report;
    fill_rings(rings, ring_count, true);
    int fd = open(touched, O_RDONLY);
    CHECK(fd >= 0 && !close(fd));
    CHECK(!madvise((void *)mapped, BYTES, MADV_DONTNEED));
    touch(mapped, BYTES);
    CHECK(!tfd_session_stop(&report));
    for (size_t i = 0; i < ring_count; i++)
        CHECK_EQUAL(*rings[i], 1);
    _exit(0);
}

static pid_t fork_with_mapping(void)
{
#ifdef __SANITIZE_THREAD__ /* a child may start no thread there */
    return 0;
#endif
    char *mapped = map(inherited), *rings[MOST_RINGS];
    size_t ring_count = fill_rings(rings, MOST_RINGS, false);
    pid_t pid = fork();
    if (!pid)
        be_child(mapped, rings, ring_count);
    CHECK_EQUAL(child_wait(pid), 0);
    CHECK(!munmap(mapped, BYTES));
    return pid;
}

static void check_child(const char *directory, pid_t pid)
{
    if (!pid)
        return;
    struct tfd_spool spool = recorded_open(directory, pid);
    skip_unless_watched(&spool);
    const struct tfd_mapped_file *file = find(&spool, inherited);
    CHECK(file && file->mappings == 1 && (file->faults > 0 || !all_seen(&spool)));
    recorded_close(&spool);
}

int main(int argc, char **argv)
{
    CHECK(argc >= 2);
    long cycles = check_repeats(argc, argv, 10000);
    check_make_file(touched, argv[1], "touched", BYTES);
    check_make_file(untouched, argv[1], "untouched", BYTES);
    check_make_file(moved, argv[1], "moved", BYTES);
    check_make_file(inherited, argv[1], "inherited", BYTES);
    check_make_file(locked, argv[1], "locked", BYTES);
    char spools[PATH_MAX];
    CHECK(!mkdir(check_path(spools, argv[1], "spools"), 0700));
    struct tfd_options options = check_options(spools);
    options.mapped = 1;
    check_start_with(&options);
    int before = open_descriptors();
    char *mapped = map(touched);
    CHECK_EQUAL(open_descriptors(), before);
    closefrom(3);
    CHECK(!munmap(mapped, BYTES));
    move_mapping();
    unlock_by_close();
    pid_t child = fork_with_mapping();
    reuse_addresses(cycles);
    check_stop();
    struct tfd_spool spool = recorded_open(spools, getpid());
    skip_unless_watched(&spool);
    CHECK(find(&spool, touched) && find(&spool, untouched) && find(&spool, moved));
    CHECK_EQUAL(find(&spool, touched)->mappings, cycles + 1);
    CHECK_EQUAL(find(&spool, untouched)->mappings, cycles + 1);
    CHECK(find(&spool, touched)->faults > 0);
    CHECK(find(&spool, moved)->faults > 0 || !all_seen(&spool));
    CHECK_EQUAL(find(&spool, untouched)->faults, 0);
    recorded_close(&spool);
    check_child(spools, child);
    return 0;
}
