/* A database with each kind of page and node, byte by byte as LMDB 0.9 lays it out: read whole, then with random
 * damage and cut short, where each call gives the records or one sentence. */
#define _GNU_SOURCE
#include "check.h"
#include "lmdb_pages.h"
#include "offline/lmdb/lmdb.h"

enum {
    LARGEST_PAGE = 4096,
    PAGES = 11,
    RECORDS = 13,
};

enum access { BUFFERED, DIRECT, MAPPED, ACCESSES };

static uint8_t image[PAGES * LARGEST_PAGE];
static unsigned page_bytes;

static size_t image_bytes(void)
{
    return (size_t)PAGES * page_bytes;
}

/* Of a value that has two pages of its own. */
static unsigned big_bytes(void)
{
    return 2 * page_bytes - 224;
}

static void make_meta(uint64_t number, uint64_t transaction)
{
    put_meta(image + number * page_bytes, page_bytes, number, transaction,
             (struct tree){.depth = 2, .entries = RECORDS, .root = 2, .pages = PAGES});
}

static void make_branch(void)
{
    uint8_t *page = image + 2 * page_bytes;
    begin_page(page, 2, BRANCH, page_bytes);
    add_node(page, 0, "", NULL, 3, 0);
    add_node(page, 0, "c", NULL, 4, 0);
}

static void make_values(void)
{
    uint8_t *page = image + 3 * page_bytes, number[8];
    begin_page(page, 3, LEAF, page_bytes);
    add_node(page, 0, "a", "a value of 20 bytes.", 20, 20);
    put64(number, 5);
    add_node(page, BIG, "b", number, big_bytes(), 8);
    uint8_t *big = image + 5 * page_bytes;
    begin_overflow(big, 5, 2);
    memset(big + 16, 'B', big_bytes());
}

/* Duplicates with nodes, of one size, and in a tree of their own; a sub-database. */
static void make_duplicates(void)
{
    uint8_t *page = image + 4 * page_bytes, inner[64] = {0}, tree[48];
    begin_page(page, 4, LEAF, page_bytes);
    begin_page(inner, 4, LEAF | SUBPAGE, sizeof inner);
    add_node(inner, 0, "x", NULL, 0, 0);
    add_node(inner, 0, "yy", NULL, 0, 0);
    add_node(page, DUPLICATES, "c", inner, sizeof inner, sizeof inner);
    begin_page(inner, 4, LEAF | LEAF2 | SUBPAGE, sizeof inner);
    put16(inner + 8, 4);
    put16(inner + 12, 16 + 3 * 2);
    memcpy(inner + 16, "111122223333", 12);
    add_node(page, DUPLICATES, "d", inner, 28, 28);
    put_tree(tree, 1, 5, 7);
    add_node(page, DUPLICATES | TREE, "e", tree, sizeof tree, sizeof tree);
    put_tree(tree, 2, 2, 8);
    add_node(page, TREE, "f", tree, sizeof tree, sizeof tree);
    page = image + 7 * page_bytes;
    begin_page(page, 7, LEAF | LEAF2, page_bytes);
    put16(page + 8, 8);
    put16(page + 12, 16 + 5 * 2);
    memset(page + 16, 'E', 5 * 8);
}

/* What "f" names: a tree of two levels. */
static void make_sub_database(void)
{
    uint8_t *page = image + 8 * page_bytes;
    begin_page(page, 8, BRANCH, page_bytes);
    add_node(page, 0, "", NULL, 9, 0);
    add_node(page, 0, "l", NULL, 10, 0);
    page = image + 9 * page_bytes;
    begin_page(page, 9, LEAF, page_bytes);
    add_node(page, 0, "k", "v", 1, 1);
    page = image + 10 * page_bytes;
    begin_page(page, 10, LEAF, page_bytes);
    add_node(page, 0, "l", "w", 1, 1);
}

static void check_error(const struct tfd_lmdb_error *error)
{
    CHECK(error->kind >= TFD_LMDB_DAMAGED && error->kind <= TFD_LMDB_FOREIGN);
    CHECK(error->text[0] && memchr(error->text, '\0', sizeof error->text));
}

/* Reads all records, in an order that is not theirs; returns their bytes, or -1. */
static int64_t read_all(struct tfd_lmdb *file, int cached, char **values)
{
    struct tfd_lmdb_error error = {0};
    size_t count = tfd_lmdb_count(file);
    const struct tfd_lmdb_record *records = tfd_lmdb_records(file);
    uint64_t *numbers = calloc(count + 1, sizeof *numbers), size = 0;
    uint64_t *places = calloc(count + 1, sizeof *places);
    for (size_t i = 0; i < count; i++) {
        numbers[i] = count - 1 - i;
        places[i] = size;
        size += records[count - 1 - i].size;
    }
    if (size > sizeof image * RECORDS) {
        /* Damage names more than the file has: that is for another call to find. */
        free(numbers);
        free(places);
        *values = NULL;
        return -1;
    }
    *values = calloc(size + 1, 1);
    int failed = tfd_lmdb_read(file, numbers, places, count, *values, size, 3, cached, &error);
    if (failed)
        check_error(&error);
    free(numbers);
    free(places);
    return failed ? -1 : (int64_t)size;
}

static int64_t look(const char *path, const char *name, enum access access, char **values)
{
    struct tfd_lmdb_error error = {0};
    *values = NULL;
    struct tfd_lmdb *file = tfd_lmdb_open(path, access == DIRECT, &error);
    int64_t result = -1;
    if (!file || tfd_lmdb_index(file, name, name ? strlen(name) : 0, 3, &error))
        check_error(&error);
    else
        result = read_all(file, access == MAPPED, values);
    tfd_lmdb_close(file);
    return result;
}

static void write_image(const char *path, size_t size)
{
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0644);
    CHECK(fd >= 0 && write(fd, image, size) == (ssize_t)size && close(fd) == 0);
}

static void check_whole(const char *path)
{
    static const char *const last = "EEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEE333322221111yyx";
    write_image(path, image_bytes());
    for (int access = 0; access < ACCESSES; access++) {
        char *values;
        CHECK_EQUAL(look(path, NULL, (enum access)access, &values), 48 + 40 + 12 + 3 + big_bytes() + 20);
        CHECK(!memcmp(values + 48, last, strlen(last)) && values[48 + strlen(last)] == 'B');
        CHECK(!memcmp(values + 48 + strlen(last) + big_bytes(), "a value of 20 bytes.", 20));
        free(values);
        CHECK_EQUAL(look(path, "f", (enum access)access, &values), 2);
        CHECK(!memcmp(values, "wv", 2));
        free(values);
    }
}

/* Changes up to three places and cuts now and then; puts the image right again. */
static bool look_at_damage(const char *path, long round)
{
    static uint8_t whole[sizeof image];
    static const uint8_t telling[] = {0, 1, 2, 7, 0x10, 0x7f, 0x80, 0xff};
    memcpy(whole, image, sizeof image);
    for (long left = random() % 3; left >= 0; left--) {
        /* Headers and pointers lie at the begin of a page. */
        size_t at =
            (size_t)random() % PAGES * page_bytes + (size_t)random() % (random() % 4 ? 64 : page_bytes);
        image[at] = random() % 2 ? telling[(size_t)random() % sizeof telling] : (uint8_t)random();
    }
    write_image(path, random() % 10 ? image_bytes() : (size_t)random() % image_bytes());
    char *values;
    bool read = look(path, NULL, round % 64 == 0 ? DIRECT : round % 2 ? MAPPED : BUFFERED, &values) >= 0;
    free(values);
    look(path, "f", round % 2 ? BUFFERED : MAPPED, &values);
    free(values);
    memcpy(image, whole, sizeof image);
    return read;
}

static void make_image(unsigned bytes)
{
    memset(image, 0, sizeof image);
    page_bytes = bytes;
    make_meta(0, 6);
    make_meta(1, 7);
    make_branch();
    make_values();
    make_duplicates();
    make_sub_database();
}

int main(int argc, char **argv)
{
    static const unsigned page_sizes[] = {512, 1024, LARGEST_PAGE};
    char path[PATH_MAX];
    check_path(path, argv[1], "data.mdb");
    long rounds = check_repeats(argc, argv, 10000) / 3;
    for (int i = 0; i < 3; i++) {
        long read = 0;
        make_image(page_sizes[i]);
        check_whole(path);
        for (long round = 0; round < rounds; round++)
            read += look_at_damage(path, round);
        CHECK(read > rounds / 50 && read < rounds * 9 / 10);
    }
    return 0;
}
