/* Threads map two files in turn at addresses that the kernel reuses. Each file is read at its own offsets, and every
 * fault is seen at its own file and offset only. The threads wait for the watcher now and then: a processor's buffer
 * holds 10,000 samples, and a busy machine may delay the watcher. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>

#include "faults/fault_budget.h"
#include "recorded.h"
#include "recorder/session.h"
#include "spool/mapped_file.h"

#define PAGE 4096
#define PAGES 128
#define BYTES (PAGES * PAGE)
#define THREADS 4
#define CYCLES_AT_ONCE 125 /* of a thread: 3,000 samples of all */
#define LONGEST_WAIT_S 60

/* More than 16 pages, which one fault maps, from each other and from the ends. */
static const long of_first[] = {19, 90}, of_second[] = {57};
static char first[PATH_MAX], second[PATH_MAX];
static long cycles_of_thread;
static pthread_barrier_t all_there;

static char touch(const char *path, const long *pages, size_t count)
{
    char sum = 0;
    int fd = open(path, O_RDONLY);
    volatile char *mapped = mmap(NULL, BYTES, PROT_READ, MAP_PRIVATE, fd, 0);
    CHECK(fd >= 0 && mapped != MAP_FAILED && !close(fd));
    for (size_t i = 0; i < count; i++)
        sum = (char)(sum + mapped[pages[i] * PAGE]);
    CHECK(!munmap((void *)mapped, BYTES));
    return sum;
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
    CHECK(!"the file is not among the mapped ones");
    return NULL;
}

static uint64_t seen_faults(const struct tfd_spool *spool)
{
    return __atomic_load_n(&find(spool, first)->faults, __ATOMIC_RELAXED) +
           __atomic_load_n(&find(spool, second)->faults, __ATOMIC_RELAXED);
}

/* Waits until the faults of so many cycles are counted, if they are watched at all. */
static void await_seen(long cycles)
{
    const struct tfd_spool *spool = &tfd_session.spool;
    const struct tfd_mapped_files *list = tfd_at(spool, atomic_load(&spool->header->mapped_files));
    if (list->watch != TFD_FAULTS_WATCHED)
        return;
    for (int tries = 0; tries < LONGEST_WAIT_S * 500 && seen_faults(spool) < 3 * (uint64_t)cycles; tries++)
        usleep(2000);
}

static void *map_in_turn(void *nothing)
{
    pthread_barrier_wait(&all_there);
    for (long i = 1; i <= cycles_of_thread; i++) {
        touch(first, of_first, 2);
        touch(second, of_second, 1);
        if (i % CYCLES_AT_ONCE)
            continue;
        pthread_barrier_wait(&all_there);
        await_seen(i * THREADS);
        pthread_barrier_wait(&all_there);
    }
    return nothing;
}

static void run_threads(void)
{
    pthread_t threads[THREADS];
    CHECK(!pthread_barrier_init(&all_there, NULL, THREADS));
    for (int i = 0; i < THREADS; i++)
        CHECK(!pthread_create(&threads[i], NULL, map_in_turn, NULL));
    for (int i = 0; i < THREADS; i++)
        CHECK(!pthread_join(threads[i], NULL));
}

static bool is_of(int64_t offset, const long *pages, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (offset == pages[i] * PAGE)
            return true;
    return false;
}

static int64_t check_offsets(const struct tfd_spool *spool, const struct tfd_mapped_files *list)
{
    uint32_t first_file = find(spool, first)->file, second_file = find(spool, second)->file;
    int64_t kept = 0;
    for (uint64_t at = list->first_block; at;) {
        const struct tfd_fault_block *block = tfd_at(spool, at);
        for (uint32_t i = 0; i < atomic_load(&block->count); i++, kept++) {
            const struct tfd_kept_fault *fault = &block->faults[i];
            CHECK(fault->file == first_file || fault->file == second_file);
            CHECK(fault->file == first_file ? is_of(fault->offset, of_first, 2)
                                            : is_of(fault->offset, of_second, 1));
        }
        at = block->next;
    }
    return kept;
}

static void check_counts(const struct tfd_spool *spool, long cycles)
{
    const struct tfd_mapped_files *list = tfd_at(spool, atomic_load(&spool->header->mapped_files));
    if (list->watch != TFD_FAULTS_WATCHED) {
        fprintf(stderr, "page faults cannot be watched here: reason %u, errno %d\n", list->watch,
                list->error);
        _exit(CHECK_SKIP);
    }
    CHECK_EQUAL(list->sampled_ns, list->watched_ns);
    CHECK_EQUAL(list->lost, 0);
    CHECK_EQUAL(find(spool, first)->mappings, cycles);
    CHECK_EQUAL(find(spool, second)->mappings, cycles);
    CHECK_EQUAL(find(spool, first)->faults, 2 * cycles);
    CHECK_EQUAL(find(spool, second)->faults, cycles);
    CHECK_EQUAL(check_offsets(spool, list) + (int64_t)list->faults_left_out, 3 * cycles);
}

int main(int argc, char **argv)
{
    CHECK(argc >= 2 && !setenv(TFD_FAULT_COST_VARIABLE, "100", 1));
    cycles_of_thread = check_repeats(argc, argv, 10000) / THREADS;
    check_make_file(first, argv[1], "first", BYTES);
    check_make_file(second, argv[1], "second", BYTES);
    char spools[PATH_MAX];
    CHECK(!mkdir(check_path(spools, argv[1], "spools"), 0700));
    struct tfd_options options = check_options(spools);
    options.mapped = 1;
    check_start_with(&options);
    run_threads();
    check_stop();
    struct tfd_spool spool = recorded_open(spools, getpid());
    check_counts(&spool, cycles_of_thread * THREADS);
    recorded_close(&spool);
    return 0;
}
