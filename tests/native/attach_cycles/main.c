/* Thousands of sessions in turn while eight threads do I/O: every patched slot is restored, no call fails, and neither
 * memory nor descriptors nor files are left behind. */
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>

#include "children.h"
#include "recorded.h"

#define THREADS 8
#define FILE_BYTES 1000
#ifdef __SANITIZE_ADDRESS__ /* keeps freed memory for a while */
#define MAY_GROW_KIB (512l << 10)
#else
#define MAY_GROW_KIB (4l << 10)
#endif
#ifdef __SANITIZE_THREAD__ /* maps more memory the more it has seen */
#define RUNTIME_MAPS_MEMORY true
#else
#define RUNTIME_MAPS_MEMORY false
#endif

static char paths[THREADS][PATH_MAX];
static _Atomic bool stopping;
static _Atomic int64_t reads;

/* All calls have known results, so a call that a half patched table misleads would show. */
static void use_file(const char *path, char *buffer)
{
    int fd = open(path, O_RDONLY);
    CHECK(fd >= 0);
    for (int i = 0; i < 20; i++)
        CHECK_EQUAL(pread(fd, buffer, FILE_BYTES, 10), FILE_BYTES - 10);
    CHECK(lseek(fd, 10, SEEK_SET) == 10 && read(fd, buffer, FILE_BYTES) == FILE_BYTES - 10);
    FILE *stream = fdopen(fd, "r");
    CHECK(stream && fseek(stream, 0, SEEK_SET) == 0);
    CHECK_EQUAL(fread(buffer, 1, FILE_BYTES, stream), FILE_BYTES);
    CHECK(fclose(stream) == 0);
    atomic_fetch_add(&reads, 22);
}

static void *be_busy(void *path)
{
    char buffer[FILE_BYTES];
    while (!atomic_load(&stopping)) {
        use_file(path, buffer);
        child_pause();
    }
    return NULL;
}

static long files_in(const char *directory)
{
    long count = 0;
    DIR *folder = opendir(directory);
    CHECK(folder);
    while (readdir(folder))
        count++;
    CHECK(closedir(folder) == 0);
    return count;
}

static long resident_kib(void)
{
    char line[200];
    long kib = -1;
    FILE *status = fopen("/proc/self/status", "r");
    CHECK(status);
    while (fgets(line, sizeof line, status))
        if (!strncmp(line, "VmRSS:", 6))
            kib = strtol(line + 6, NULL, 10);
    CHECK(fclose(status) == 0);
    return kib;
}

static long mappings(void)
{
    char line[PATH_MAX + 200];
    long count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    CHECK(maps);
    while (fgets(line, sizeof line, maps))
        count++;
    CHECK(fclose(maps) == 0);
    return count;
}

static void cycle(const struct tfd_options *options, bool thorough)
{
    struct tfd_attach_report stopped = {0}, started = check_start_with(options);
    if (thorough)
        CHECK_EQUAL(tfd_slots_holding_wrappers(), started.slots_patched);
    sched_yield();
    CHECK(check_session_stop(&stopped) == 0);
    CHECK_EQUAL(stopped.slots_restored, started.slots_patched);
    CHECK_EQUAL(started.slots_foreign, 0);
    if (thorough)
        CHECK_EQUAL(tfd_slots_holding_wrappers(), 0);
    check_drop_spool(options->spool_directory, getpid());
}

int main(int argc, char **argv)
{
    CHECK(argc >= 2);
    long descriptors = files_in("/proc/self/fd");
    long count = check_repeats(argc, argv, 1000);
    pthread_t threads[THREADS];
    struct tfd_options options = check_options(argv[1]);
    options.trace_limit_bytes = 1u << 20;
    for (int i = 0; i < THREADS; i++) {
        char name[20];
        snprintf(name, sizeof name, "file%d", i);
        check_make_file(paths[i], argv[1], name, FILE_BYTES);
        CHECK(pthread_create(&threads[i], NULL, be_busy, paths[i]) == 0);
    }
    for (int i = 0; i < 50; i++)
        cycle(&options, true);
    long kib = resident_kib(), maps = mappings(), files = files_in(argv[1]);
    for (long i = 0; i < count; i++)
        cycle(&options, i % 100 == 0);
    if (count >= 1000) /* with few cycles valgrind's own memory would be what grows */
        CHECK(resident_kib() < kib + MAY_GROW_KIB);
    CHECK(RUNTIME_MAPS_MEMORY || mappings() < maps + 10);
    CHECK_EQUAL(files_in(argv[1]), files);
    atomic_store(&stopping, true);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(atomic_load(&reads) > count / 10);
    CHECK_EQUAL(files_in("/proc/self/fd"), descriptors);
    return 0;
}
