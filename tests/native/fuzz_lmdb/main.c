/* A database with changes that libFuzzer chooses: each call gives the records or one sentence. */
#define _GNU_SOURCE
#include "fuzz.h"
#include "lmdb_image.h"

static const unsigned page_sizes[] = {512, 1024, LARGEST_PAGE};
enum { SIZES = sizeof page_sizes / sizeof *page_sizes };
static struct fuzz_file files[SIZES];

static void fuzz_begin(const char *directory)
{
    (void)directory;
    for (int i = 0; i < SIZES; i++) {
        make_image(page_sizes[i]);
        uint8_t *whole = malloc(image_bytes());
        CHECK(whole);
        memcpy(whole, image, image_bytes());
        fuzz_file_make(&files[i], whole, image_bytes());
    }
}

static void look_all(const char *path, enum access access)
{
    char *values;
    look(path, NULL, access, &values);
    free(values);
    look(path, "f", access, &values);
    free(values);
}

/* Each part is the header of a page, with the pointers behind it. */
static void fuzz_one(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {data, size};
    uint64_t which = fuzz_number(&input, 1) % SIZES;
    struct fuzz_part headers[PAGES];
    for (size_t page = 0; page < PAGES; page++)
        headers[page] = (struct fuzz_part){page * page_sizes[which], 64};
    fuzz_change(&files[which], headers, PAGES, &input);
    look_all(files[which].path, BUFFERED);
    look_all(files[which].path, MAPPED);
    fuzz_file_restore(&files[which]);
}
