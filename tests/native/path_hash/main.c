/* Files of data sets, whose names differ in few characters, must not share hashes: a lookup would compare all of
 * them. */
#define _GNU_SOURCE
#include <sys/stat.h>

#include "check.h"
#include "recorder/session.h"

#define FILES 10000
/* Equal pairs, at most. Random 32-bit hashes of this many files have 0.01 equal pairs. */
#define MOST_ALIKE 2

static int by_value(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return left < right ? -1 : left > right;
}

/* Longest run of used places where each hash takes the next free one, at half load: 20 or so if random. */
static uint32_t longest_search(const uint32_t *hashes, uint32_t count)
{
    static bool used[4 * FILES];
    uint32_t places = 1, longest = 0;
    while (places < 2 * count)
        places *= 2;
    CHECK(places <= sizeof used);
    memset(used, 0, sizeof used);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = hashes[i] & (places - 1), steps = 0;
        for (; used[at]; steps++)
            at = (at + 1) & (places - 1);
        used[at] = true;
        longest = steps > longest ? steps : longest;
    }
    return longest;
}

static void check_names(const char *directory, const char *format)
{
    static uint32_t hashes[FILES];
    char path[PATH_MAX], name[64];
    struct stat status;
    check_start(directory);
    for (int i = 0; i < FILES; i++) {
        snprintf(name, sizeof name, format, i);
        CHECK(snprintf(path, sizeof path, "/no/such/%s", name) > 0);
        CHECK(stat(path, &status) < 0);
    }
    struct tfd_spool *spool = &tfd_session.spool;
    CHECK_EQUAL(atomic_load(&spool->header->file_count), TFD_FIRST_FILE + FILES);
    for (uint32_t i = 0; i < FILES; i++)
        hashes[i] = tfd_file_at(spool, TFD_FIRST_FILE + i)->path_hash;
    check_stop();
    check_drop_spool(directory, getpid());
    CHECK(longest_search(hashes, FILES) < 100);
    qsort(hashes, FILES, sizeof *hashes, by_value);
    int alike = 0;
    for (int i = 1; i < FILES; i++)
        alike += hashes[i] == hashes[i - 1];
    CHECK(alike <= MOST_ALIKE);
}

int main(int argc, char **argv)
{
    CHECK(argc >= 2);
    /* with "/no/such/" 9 bytes longer: the number ends at each place within a word of 8 bytes */
    static const char *const formats[] = {
        "%07d",        "x%07d",    "xx%07d",    "xxx%07d",    "xxxx%07d",    "xxxxx%07d",     "xxxxxx%07d",
        "xxxxxxx%07d", "%07d.bin", "%07d.JPEG", "x%07d.JPEG", "xx%07d.JPEG", "train/%05d/xx", "%05d/0.data",
    };
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        check_names(argv[1], formats[i]);
    return 0;
}
