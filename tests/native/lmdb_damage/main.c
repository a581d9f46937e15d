/* A database with each kind of page and node, byte by byte as LMDB 0.9 lays it out: read whole, then with random
 * damage and cut short, where each call gives the records or one sentence. */
#define _GNU_SOURCE
#include "lmdb_image.h"

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
