/* Threads that have streams of their own, that share one, and that hand one on: what compiled-in code moves is counted
 * of the first, calls are counted of all, and nothing is counted twice. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>

#include "recorded.h"

#define THREADS 4
#define CYCLES 30
#define CALLS 4
#define OLDER 50
#define TEXT "twelve bytes"

static long repeats;
static FILE *shared, *older[OLDER];
static atomic_bool over;
static pthread_barrier_t together;

static void open_path(char out[PATH_MAX], const char *directory, long number)
{
    snprintf(out, PATH_MAX, "%s/%ld", directory, number);
}

static void put_both(FILE *stream)
{
    for (int i = 0; i < 10; i++)
        CHECK(putc_unlocked('x', stream) == 'x');
    CHECK(fputs(TEXT, stream) >= 0);
}

static void *use_own(void *path)
{
    FILE *stream = fopen(path, "w");
    CHECK(stream);
    for (long i = 0; i < repeats; i++)
        put_both(stream);
    CHECK(fclose(stream) == 0 && (stream = fopen(path, "r")));
    for (long i = 0; i < repeats; i++)
        CHECK(getc_unlocked(stream) != EOF && fgetc(stream) != EOF);
    CHECK(fclose(stream) == 0);
    return NULL;
}

static void *call_shared(void *unused)
{
    for (long i = 0; i < repeats; i++)
        CHECK(fputs(TEXT, shared) >= 0);
    return unused;
}

static bool is_chosen(void)
{
    return pthread_barrier_wait(&together) == PTHREAD_BARRIER_SERIAL_THREAD;
}

/* One stream after the other, on which all threads make their first calls at once. The first ones are older than the
 * session: what they are of is looked up then. */
static void *call_fresh(void *path)
{
    for (long i = 0; i < repeats; i++) {
        if (is_chosen())
            CHECK((shared = i < OLDER ? older[i] : fopen(path, "w")));
        pthread_barrier_wait(&together);
        for (int call = 0; call < CALLS; call++)
            CHECK(fputs(TEXT, shared) >= 0);
        if (is_chosen())
            CHECK(fclose(shared) == 0);
    }
    return NULL;
}

/* ThreadSanitizer does not know flockfile. */
static void *lock_shared(void *unused)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    for (long i = 0; i < repeats; i++) {
        CHECK(pthread_mutex_lock(&lock) == 0);
        put_both(shared);
        CHECK(pthread_mutex_unlock(&lock) == 0);
    }
    return unused;
}

static void *take_over(void *unused)
{
    put_both(shared);
    CHECK(fclose(shared) == 0);
    return unused;
}

static void run(int count, void *(*body)(void *), char (*paths)[PATH_MAX])
{
    pthread_t threads[THREADS];
    for (int i = 0; i < count; i++)
        CHECK(pthread_create(&threads[i], NULL, body, paths ? paths[i] : NULL) == 0);
    for (int i = 0; i < count; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

static void share(const char *path, void *(*body)(void *))
{
    CHECK((shared = fopen(path, "w")));
    run(THREADS, body, NULL);
    CHECK(fclose(shared) == 0);
}

static void share_fresh(char *path)
{
    char paths[THREADS][PATH_MAX];
    for (int i = 0; i < THREADS; i++)
        strcpy(paths[i], path);
    CHECK(pthread_barrier_init(&together, NULL, THREADS) == 0);
    run(THREADS, call_fresh, paths);
    CHECK(pthread_barrier_destroy(&together) == 0);
}

static void hand_on(const char *path)
{
    CHECK((shared = fopen(path, "w")));
    put_both(shared);
    run(1, take_over, NULL);
}

static void *use_own_for_long(void *path)
{
    while (!atomic_load(&over))
        use_own(path);
    return NULL;
}

/* Each of them has marks that are left from a session that is over. */
static void change_sessions(const char *directory, char (*paths)[PATH_MAX])
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, use_own_for_long, paths[i]) == 0);
    for (int i = 0; i < CYCLES; i++) {
        check_start(directory);
        usleep(1000);
        check_stop();
        check_drop_spool(directory, getpid());
    }
    atomic_store(&over, true);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

static int64_t written(const char *directory, const char *path)
{
    return recorded_here(directory, path, TFD_OP_FWRITE).bytes;
}

int main(int argc, char **argv)
{
    char own[THREADS][PATH_MAX], called[PATH_MAX], fresh[PATH_MAX], locked[PATH_MAX], handed[PATH_MAX];
    const char *directory = argv[1];
    const int64_t calls = (int64_t)strlen(TEXT);
    repeats = check_repeats(argc, argv, 2000);
    for (int i = 0; i < THREADS; i++)
        open_path(own[i], directory, i);
    open_path(called, directory, 10);
    open_path(locked, directory, 11);
    open_path(handed, directory, 12);
    open_path(fresh, directory, 13);
    change_sessions(directory, own);
    for (int i = 0; i < OLDER; i++)
        CHECK((older[i] = fopen(fresh, "w")));
    check_start(directory);
    run(THREADS, use_own, own);
    share(called, call_shared);
    share_fresh(fresh);
    share(locked, lock_shared);
    hand_on(handed);
    check_stop();
    for (int i = 0; i < THREADS; i++) {
        CHECK_EQUAL(written(directory, own[i]), repeats * (10 + calls));
        CHECK_EQUAL(recorded_here(directory, own[i], TFD_OP_FREAD).bytes, 2 * repeats);
    }
    CHECK_EQUAL(written(directory, called), THREADS * repeats * calls);
    CHECK_EQUAL(written(directory, fresh), THREADS * repeats * CALLS * calls);
    CHECK(written(directory, locked) >= THREADS * repeats * calls);
    CHECK(written(directory, locked) <= THREADS * repeats * (10 + calls));
    CHECK(written(directory, handed) >= 10 + 2 * calls && written(directory, handed) <= 2 * (10 + calls));
    return 0;
}
