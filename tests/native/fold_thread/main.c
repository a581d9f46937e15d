/* A thread of ours folds chunks that are used again: no event is lost or counted twice, whenever the process is
 * killed; and the thread is there for nobody else: not after a fork, when nothing is left to fold, or at the end. */
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "children.h"
#include "counted.h"

#define READERS 3
#define FILE_BYTES (1ll << 40) /* sparse: no reader comes to its end */
#define CALLS 60000            /* several times what a thread's chunks hold */
#define KILL_WITHIN_US 40000
#define PROCESSORS 2000    /* that this machine seems to have room for */
#define BOUND_S 10         /* within which a new thread gets a processor */
#ifdef __SANITIZE_THREAD__ /* has a thread of its own, which keeps a process whose other threads have ended */
#define LAST_THREADS 0
#else
#define LAST_THREADS 10
#endif

/* What a reader has begun and done, also for who killed it. */
struct progress {
    _Atomic int64_t begun, done;
};

static const char *directory;
static char paths[READERS][PATH_MAX];
static struct progress *progress; /* READERS */

static void read_bytes(int reader, int64_t calls)
{
    char byte;
    int fd = open(paths[reader], O_RDONLY);
    CHECK(fd >= 0);
    for (int64_t i = 0; i < calls; i++) {
        atomic_store(&progress[reader].begun, i + 1);
        CHECK(pread(fd, &byte, 1, i) == 1);
        atomic_store(&progress[reader].done, i + 1);
    }
    CHECK(close(fd) == 0);
}

static void *reader_thread(void *argument)
{
    struct progress *own = argument;
    read_bytes((int)(own - progress), CALLS);
    return NULL;
}

static void *endless_reader(void *argument)
{
    struct progress *own = argument;
    read_bytes((int)(own - progress), INT64_MAX);
    return NULL;
}

static void begin_readers(pthread_t *threads, void *(*reader)(void *))
{
    for (int i = 0; i < READERS; i++)
        CHECK(pthread_create(&threads[i], NULL, reader, &progress[i]) == 0);
}

static void end_readers(const pthread_t *threads)
{
    for (int i = 0; i < READERS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

static void start(uint64_t trace_limit_bytes)
{
    static const char *const own_looks[] = {"/proc/*"};
    struct tfd_options options = check_options(directory);
    options.trace_limit_bytes = trace_limit_bytes;
    options.exclude = own_looks;
    options.exclude_count = 1;
    for (int i = 0; i < READERS; i++)
        progress[i] = (struct progress){0};
    check_start_with(&options);
}

/* Each byte follows the one before: the counters also know in which order they were folded. */
static void check_reads(struct tfd_reader *reader, int file, int64_t reads)
{
    CHECK_EQUAL(counted_sum(reader, paths[file], "POSIX_READS"), reads);
    CHECK_EQUAL(counted_sum(reader, paths[file], "POSIX_BYTES_READ"), reads);
    CHECK_EQUAL(counted_sum(reader, paths[file], "POSIX_CONSEC_READS"), reads ? reads - 1 : 0);
}

static struct tfd_reader *read_spool(pid_t pid)
{
    struct tfd_reader *reader = counted_open(directory, pid);
    struct tfd_spool_info info = counted_info(reader);
    CHECK_EQUAL(info.damaged, 0);
    CHECK_EQUAL(info.segments + info.events_dropped, info.events);
    return reader;
}

static void drop(struct tfd_reader *reader, pid_t pid)
{
    tfd_reader_close(reader);
    check_drop_spool(directory, pid);
}

static bool is_fold_thread(const char *task)
{
    char path[PATH_MAX], name[32] = "";
    CHECK(snprintf(path, sizeof path, "/proc/self/task/%s/comm", task) < PATH_MAX);
    int fd = open(path, O_RDONLY);
    if (fd < 0)
        return false;
    ssize_t got = read(fd, name, sizeof name - 1);
    CHECK(close(fd) == 0);
    return got > 0 && !strcmp(name, "tfd-fold\n");
}

static int fold_threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    int count = 0;
    CHECK(tasks);
    for (const struct dirent *entry; (entry = readdir(tasks));)
        count += is_fold_thread(entry->d_name);
    CHECK(closedir(tasks) == 0);
    return count;
}

/* Chunks that were full are folded by the thread or by their owners: here that is most of what there is. */
static void check_who_folded(struct tfd_reader *reader)
{
    uint64_t thread_ns = 0, by_callers = 0;
    tfd_reader_folding(reader, &thread_ns, &by_callers);
    CHECK(thread_ns > 0 || by_callers > 0);
    CHECK(by_callers <= counted_info(reader).events);
}

static void test_totals(uint64_t trace_limit_bytes)
{
    pthread_t threads[READERS];
    start(trace_limit_bytes);
    begin_readers(threads, reader_thread);
    end_readers(threads);
    check_stop();
    CHECK_EQUAL(fold_threads(), 0);
    struct tfd_reader *reader = read_spool(getpid());
    for (int i = 0; i < READERS; i++)
        check_reads(reader, i, CALLS);
    CHECK(counted_info(reader).events_dropped > 0);
    check_who_folded(reader);
    drop(reader, getpid());
}

/* A thread of which nobody knows would keep a program alive whose own threads have all ended. */
static void test_ends_when_idle(void)
{
    start(0);
    for (int i = 0; i < 100 && !fold_threads(); i++)
        read_bytes(0, CALLS);
    CHECK_EQUAL(fold_threads(), 1);
    for (int64_t deadline_ns = child_now_ns() + CHILD_WAIT_S * 1000000000ll; fold_threads();) {
        CHECK(child_now_ns() < deadline_ns);
        child_pause();
    }
    read_bytes(0, CALLS); /* and it starts again */
    check_stop();
    CHECK_EQUAL(fold_threads(), 0);
    check_drop_spool(directory, getpid());
}

/* As the kernel of a machine with so many processors does. The core calls this too. */
int sched_getaffinity(pid_t thread, size_t bytes, cpu_set_t *processors)
{
    if (bytes * CHAR_BIT >= PROCESSORS)
        return syscall(SYS_sched_getaffinity, thread, bytes, processors) < 0 ? -1 : 0;
    errno = EINVAL;
    return -1;
}

static cpu_set_t processors_of(pid_t thread)
{
    cpu_set_t processors;
    CPU_ZERO(&processors);
    CHECK(syscall(SYS_sched_getaffinity, thread, sizeof processors, &processors) > 0);
    return processors;
}

static bool fold_thread_may_use(const cpu_set_t *processors)
{
    DIR *tasks = opendir("/proc/self/task");
    bool may = false;
    CHECK(tasks);
    for (const struct dirent *entry; (entry = readdir(tasks));) {
        if (!is_fold_thread(entry->d_name))
            continue;
        cpu_set_t found = processors_of(atoi(entry->d_name));
        may |= CPU_EQUAL(&found, processors);
    }
    CHECK(closedir(tasks) == 0);
    return may;
}

static void *bound_reader(void *nothing)
{
    cpu_set_t all = processors_of(getpid()), one;
    int64_t deadline_ns = child_now_ns() + BOUND_S * 1000000000ll;
    size_t first = 0;
    while (!CPU_ISSET(first, &all))
        first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
    do {
        CHECK(child_now_ns() < deadline_ns);
        read_bytes(0, CALLS);
    } while (!fold_thread_may_use(&all));
    return nothing;
}

/* The fold thread is bound to no processor, though the thread that starts it is. */
static void test_is_not_bound(void)
{
    pthread_t thread;
    start(0);
    CHECK(pthread_create(&thread, NULL, bound_reader, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    check_stop();
    check_drop_spool(directory, getpid());
}

/* Without room for a thread the callers fold. The sanitizers want room of their own. */
static void test_refused(void)
{
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
    struct rlimit limit;
    long pages = 0;
    FILE *sizes = fopen("/proc/self/statm", "r");
    CHECK(sizes && fscanf(sizes, "%ld", &pages) == 1 && fclose(sizes) == 0);
    start(0);
    CHECK(getrlimit(RLIMIT_AS, &limit) == 0);
    struct rlimit none = {(rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE), limit.rlim_max};
    CHECK(setrlimit(RLIMIT_AS, &none) == 0);
    read_bytes(0, CALLS);
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
    CHECK_EQUAL(fold_threads(), 0);
    check_stop();
    struct tfd_reader *reader = read_spool(getpid());
    check_reads(reader, 0, CALLS);
    drop(reader, getpid());
#endif
}

/* Which glibc calls in the last thread: a signal would not reach the fold thread. */
static void check_last_is_own(void)
{
    sigset_t blocked;
    if (pthread_sigmask(SIG_BLOCK, NULL, &blocked) || sigismember(&blocked, SIGTERM) || fold_threads())
        _exit(2);
}

static void *last_reader(void *main_thread)
{
    if (pthread_join(*(pthread_t *)main_thread, NULL))
        _exit(3);
    read_bytes(0, CALLS);
    return NULL;
}

/* Of a program whose main thread ends first: `last` reads when that has ended, and is the last then. */
static void leave_main(bool last)
{
    static pthread_t main_thread, other;
    main_thread = pthread_self();
    start(0);
    read_bytes(0, CALLS);
    CHECK(atexit(check_last_is_own) == 0);
    if (last)
        CHECK(pthread_create(&other, NULL, last_reader, &main_thread) == 0);
    pthread_exit(NULL);
}

static void test_ends_with_last_thread(bool last)
{
    pid_t child = child_fork();
    if (!child)
        leave_main(last);
    CHECK_EQUAL(child_wait(child), 0);
    struct tfd_reader *reader = read_spool(child);
    CHECK_EQUAL(counted_sum(reader, paths[0], "POSIX_READS"), last ? 2 * CALLS : CALLS);
    drop(reader, child);
}

static void read_in_handler(int signal_number)
{
    (void)signal_number;
    read_bytes(0, CALLS);
}

/* It may have interrupted malloc, which making a thread calls. */
static void test_does_not_start_in_handler(void)
{
    start(0);
    CHECK(signal(SIGUSR1, read_in_handler) != SIG_ERR && raise(SIGUSR1) == 0);
    CHECK_EQUAL(fold_threads(), 0);
    check_stop();
    struct tfd_reader *reader = read_spool(getpid());
    check_reads(reader, 0, CALLS);
    drop(reader, getpid());
}

/* Python warns who forks beside other threads. On a busy machine the thread may not get to its end in time. */
static void test_is_gone_after_fork(void)
{
    int gone = 0;
    start(0);
    for (int i = 0; i < 20; i++) {
        read_bytes(0, CALLS);
        pid_t child = child_fork();
        if (!child)
            _exit(fold_threads());
        gone += fold_threads() == 0;
        CHECK_EQUAL(child_wait(child), 0);
    }
    check_stop();
    CHECK(gone > 0);
    struct tfd_reader *reader = read_spool(getpid());
    CHECK_EQUAL(counted_sum(reader, paths[0], "POSIX_READS"), 20 * CALLS);
    drop(reader, getpid());
}

static void test_children_fold(int forks)
{
#ifdef __SANITIZE_THREAD__ /* lets no thread start in the child of a process that has threads */
    forks = 0;
#endif
    pthread_t threads[READERS];
    start(0);
    begin_readers(threads, reader_thread);
    for (int i = 0; i < forks; i++) {
        pid_t child = child_fork();
        if (!child) {
            read_bytes(0, CALLS);
            _exit(0);
        }
        if (vfork() == 0)
            _exit(0);
        CHECK_EQUAL(child_wait(child), 0);
        struct tfd_reader *reader = read_spool(child);
        check_reads(reader, 0, CALLS);
        drop(reader, child);
    }
    end_readers(threads);
    check_stop();
    struct tfd_reader *reader = read_spool(getpid());
    for (int i = 0; i < READERS; i++)
        check_reads(reader, i, CALLS);
    drop(reader, getpid());
}

static void check_killed(pid_t child)
{
    struct tfd_reader *reader = read_spool(child);
    for (int i = 0; i < READERS; i++) {
        int64_t reads = counted_sum(reader, paths[i], "POSIX_READS");
        CHECK(reads >= atomic_load(&progress[i].done) && reads <= atomic_load(&progress[i].begun));
        check_reads(reader, i, reads);
    }
    drop(reader, child);
}

/* The trace off, soon full, and filling up. */
static void test_kills(long kills)
{
    static const uint64_t limits[] = {0, 64u << 10, 8u << 20};
    for (long i = 0; i < kills; i++) {
        for (int reader = 0; reader < READERS; reader++)
            progress[reader] = (struct progress){0};
        pid_t child = child_fork();
        if (!child) {
            pthread_t threads[READERS];
            start(limits[i % 3]);
            begin_readers(threads, endless_reader);
            end_readers(threads);
        }
        for (int reader = 0; reader < READERS; reader++)
            while (!atomic_load(&progress[reader].done))
                child_pause();
        usleep((useconds_t)(rand() % KILL_WITHIN_US));
        CHECK(kill(child, SIGKILL) == 0);
        CHECK(WIFSIGNALED(child_wait(child)));
        check_killed(child);
    }
}

int main(int argc, char **argv)
{
    CHECK(argc >= 2);
    directory = argv[1];
    progress =
        mmap(NULL, READERS * sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(progress != MAP_FAILED);
    for (int i = 0; i < READERS; i++) {
        char name[16];
        snprintf(name, sizeof name, "data%d", i);
        check_make_file(paths[i], directory, name, FILE_BYTES);
    }
    test_kills(check_repeats(argc, argv, 200));
    test_refused(); /* before there is a stack that a thread could have again */
    test_is_not_bound();
    test_ends_when_idle();
    for (int i = 0; i < LAST_THREADS; i++)
        test_ends_with_last_thread(i % 2);
    test_does_not_start_in_handler();
    test_is_gone_after_fork();
    test_totals(0);
    test_totals(256u << 10);
    test_totals(1u << 20);
    test_children_fold(20);
    return 0;
}
