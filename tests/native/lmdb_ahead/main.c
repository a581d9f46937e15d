/* TensorFlow's op reads a window of records of a lent LMDB file while the next two windows are read into the page
 * cache: each window once, two at a time, and at most two ahead. The same holds if reading ahead fails, or if the
 * file is taken back meanwhile. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "check.h"
#include "lmdb_pages.h"
#include "offline/lmdb/borrowed.h"

enum {
    PAGE = 4096,
    VALUE_PAGES = 16,
    VALUE_BYTES = VALUE_PAGES * PAGE - 16,
    RECORDS = 32, /* of as many windows as are known at a time */
    WINDOW = 4,
    WINDOWS = RECORDS / WINDOW,
    FIRST_VALUE = 3,
    PAGES = FIRST_VALUE + RECORDS * VALUE_PAGES,
    READERS = 4,
};

static uint8_t image[PAGES * PAGE];
static atomic_uint reads[WINDOWS];   /* from the storage */
static atomic_uint refused[WINDOWS]; /* how many of them are to fail from now on */
static atomic_bool in_pairs;         /* the first windows read ahead wait for each other */
static atomic_bool held;             /* what is read ahead does not come */

static void await(atomic_uint *count)
{
    while (!atomic_load(count))
        usleep(100);
}

/* In place of the C library's: storage that serves as this program wants. */
ssize_t preadv2(int fd, const struct iovec *vectors, int count, off_t offset, int flags)
{
    (void)fd, (void)vectors, (void)count, (void)offset, (void)flags;
    errno = EAGAIN;
    return -1;
}

ssize_t preadv(int fd, const struct iovec *vectors, int count, off_t offset)
{
    if (offset < FIRST_VALUE * PAGE)
        return syscall(SYS_preadv, fd, vectors, count, offset, 0);
    size_t window = (size_t)(offset / PAGE - FIRST_VALUE) / VALUE_PAGES / WINDOW;
    CHECK(window < WINDOWS);
    atomic_fetch_add(&reads[window], 1);
    if (atomic_load(&in_pairs) && (window == 1 || window == 2))
        await(&reads[3 - window]);
    while (window && atomic_load(&held))
        usleep(100);
    if (atomic_load(&refused[window])) {
        atomic_fetch_sub(&refused[window], 1);
        errno = EIO;
        return -1;
    }
    return syscall(SYS_preadv, fd, vectors, count, offset, 0);
}

static void make_database(const char *path)
{
    struct tree tree = {.depth = 1, .entries = RECORDS, .root = 2, .pages = PAGES};
    put_meta(image, PAGE, 0, 1, tree);
    put_meta(image + PAGE, PAGE, 1, 2, tree);
    uint8_t *leaf = image + 2 * PAGE, number[8];
    begin_page(leaf, 2, LEAF, PAGE);
    for (unsigned i = 0; i < RECORDS; i++) {
        char key[8];
        snprintf(key, sizeof key, "%02u", i);
        uint64_t first = FIRST_VALUE + i * VALUE_PAGES;
        put64(number, first);
        add_node(leaf, BIG, key, number, VALUE_BYTES, sizeof number);
        begin_overflow(image + first * PAGE, first, VALUE_PAGES);
        memset(image + first * PAGE + 16, (int)i + 1, VALUE_BYTES);
    }
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0644);
    CHECK(fd >= 0 && write(fd, image, sizeof image) == sizeof image && close(fd) == 0);
}

/* A file as the op has it. */
struct lent {
    struct tfd_lmdb *file;
    uint64_t number;
    int descriptor;
    int64_t numbers[RECORDS];
};

static void lend(struct lent *lent, const char *path, int threads)
{
    struct tfd_lmdb_error error;
    for (int i = 0; i < WINDOWS; i++)
        atomic_store(&reads[i], 0);
    for (int i = 0; i < RECORDS; i++)
        lent->numbers[i] = i;
    lent->file = tfd_lmdb_open(path, 0, &error);
    CHECK(lent->file && !tfd_lmdb_index(lent->file, NULL, 0, 1, &error));
    CHECK_EQUAL(tfd_lmdb_count(lent->file), RECORDS);
    lent->descriptor = tfd_lmdb_descriptor(lent->file);
    CHECK((lent->number = tfd_lmdb_lend(lent->file, path, 1)) != 0);
    tfd_lmdb_set_reading(lent->number, threads, 0, 0, WINDOW);
}

static void end(struct lent *lent)
{
    tfd_lmdb_take_back(lent->number);
    tfd_lmdb_close(lent->file);
}

/* Who reads ahead is the last that may close it. */
static void await_closed(const struct lent *lent)
{
    while (fcntl(lent->descriptor, F_GETFD) >= 0)
        usleep(100);
}

/* Reads one record as an op does, whose numbers end with its call. */
static int read_one(const struct lent *lent, uint64_t span, size_t record, struct tfd_lmdb_error *error)
{
    const struct tfd_lmdb_borrowed_calls *calls = tfd_lmdb_borrowed_functions();
    int64_t *numbers = malloc(sizeof lent->numbers);
    char *value = malloc(VALUE_BYTES);
    CHECK(numbers && value);
    memcpy(numbers, lent->numbers, sizeof lent->numbers);
    struct tfd_lmdb_part part = {.lent = lent->number,
                                 .span = span,
                                 .numbers = numbers,
                                 .total = RECORDS,
                                 .first = record,
                                 .count = 1};
    int result = calls->read(&part, &value, error);
    for (size_t i = 0; !result && i < VALUE_BYTES; i++)
        CHECK_EQUAL(value[i], record + 1);
    free(value);
    free(numbers);
    return result;
}

static void read_well(const struct lent *lent, uint64_t span, size_t record)
{
    struct tfd_lmdb_error error;
    CHECK_EQUAL(read_one(lent, span, record, &error), 0);
}

struct reader {
    const struct lent *lent;
    uint64_t span;
    atomic_size_t *next;
};

static void *reader_main(void *argument)
{
    struct reader *reader = argument;
    size_t record;
    while ((record = atomic_fetch_add(reader->next, 1)) < RECORDS)
        read_well(reader->lent, reader->span, record);
    return NULL;
}

static void read_all(const struct lent *lent, uint64_t span)
{
    atomic_size_t next = 0;
    struct reader reader = {lent, span, &next};
    pthread_t threads[READERS];
    for (int i = 0; i < READERS; i++)
        CHECK(!pthread_create(&threads[i], NULL, reader_main, &reader));
    for (int i = 0; i < READERS; i++)
        CHECK(!pthread_join(threads[i], NULL));
}

static void check_two_ahead(const char *path)
{
    struct lent lent;
    lend(&lent, path, 2);
    atomic_store(&in_pairs, true);
    read_well(&lent, 0, 0);
    await(&reads[1]);
    await(&reads[2]);
    atomic_store(&in_pairs, false);
    CHECK_EQUAL(atomic_load(&reads[3]), 0);
    for (unsigned span = 0; span < 3; span++) {
        read_all(&lent, span);
        for (int i = 0; i < WINDOWS; i++)
            CHECK_EQUAL(atomic_load(&reads[i]), span + 1);
    }
    end(&lent);
    await_closed(&lent);
}

static void check_one_reader(const char *path, int threads)
{
    struct lent lent;
    lend(&lent, path, threads);
    read_well(&lent, 0, 0);
    end(&lent);
    await_closed(&lent);
    CHECK(atomic_load(&reads[0]) > 0);
    CHECK_EQUAL(atomic_load(&reads[1]), 0);
}

/* What fails once is read again by who asks for it; what goes on failing is told. */
static void check_failures(const char *path)
{
    struct lent lent;
    struct tfd_lmdb_error error;
    lend(&lent, path, 2);
    atomic_store(&refused[1], 1);
    read_all(&lent, 0);
    CHECK_EQUAL(atomic_load(&reads[1]), 2);
    end(&lent);
    await_closed(&lent);

    lend(&lent, path, 2);
    atomic_store(&refused[1], UINT32_MAX);
    read_well(&lent, 0, 0);
    CHECK_EQUAL(read_one(&lent, 0, WINDOW, &error), -1);
    CHECK_EQUAL(error.kind, TFD_LMDB_SYSTEM);
    CHECK_EQUAL(error.number, EIO);
    end(&lent);
    await_closed(&lent);
    atomic_store(&refused[1], 0);
}

static void check_taken_back(const char *path)
{
    struct lent lent;
    struct tfd_lmdb_error error;
    lend(&lent, path, 2);
    atomic_store(&held, true);
    read_well(&lent, 0, 0);
    await(&reads[1]);
    end(&lent);
    CHECK(fcntl(lent.descriptor, F_GETFD) >= 0);
    CHECK_EQUAL(read_one(&lent, 0, 1, &error), -1);
    CHECK_EQUAL(error.kind, TFD_LMDB_MISSING);
    atomic_store(&held, false);
    await_closed(&lent);
}

int main(int argc, char **argv)
{
    char path[PATH_MAX];
    CHECK(argc > 1);
    make_database(check_path(path, argv[1], "data.mdb"));
    for (long i = check_repeats(argc, argv, 20); i > 0; i--) {
        check_two_ahead(path);
        check_one_reader(path, 0);
        check_one_reader(path, 1);
        check_failures(path);
        check_taken_back(path);
    }
    return 0;
}
