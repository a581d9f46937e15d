/* Globs match ASCII the same as fnmatch(3), and each character of UTF-8 as one, which fnmatch(3) does not always do. */
#define _GNU_SOURCE
#include <fnmatch.h>

#include "base/glob_match.h"
#include "check.h"

static const char *const pattern_pieces[] = {
    "*",    "*",     "?",     "a",     "b",    "/", "-", ",",           "[ab]",
    "[!a]", "[^b/]", "[a-c]", "[]a]",  "[a-]", "[", "]", "[[:digit:]]", "[[:alpha:]_]",
    "[!]",  "\\*",   "\\a",   "[\\]]", "^",    "1",
};
static const char *const text_pieces[] = {
    "a", "b", "c", "/", "-", ",", "*", "?", "[", "]", "^", "!", "1", "\\", "_",
};

static void fill(char *out, const char *const *pieces, size_t count, unsigned most)
{
    out[0] = '\0';
    for (unsigned left = (unsigned)random() % (most + 1); left; left--)
        strcat(out, pieces[(size_t)random() % count]);
}

static void check_as_fnmatch(long rounds)
{
    char pattern[200], text[200];
    long matched = 0;
    for (long i = 0; i < rounds; i++) {
        fill(pattern, pattern_pieces, sizeof pattern_pieces / sizeof *pattern_pieces, 6);
        fill(text, text_pieces, sizeof text_pieces / sizeof *text_pieces, 8);
        bool expected = !fnmatch(pattern, text, 0);
        if (tfd_glob_matches(pattern, text) != expected) {
            fprintf(stderr, "%s and %s: fnmatch says %d\n", pattern, text, expected);
            _exit(1);
        }
        matched += expected;
    }
    CHECK(matched > rounds / 100);
}

/* A path as long as can be, and stars that all have to be tried. */
static void check_long_ones(void)
{
    static char text[1 << 16];
    memset(text, 'a', sizeof text - 1);
    CHECK(tfd_glob_matches("*a*a*a*a*a*", text));
    CHECK(!tfd_glob_matches("*a*a*a*a*b", text));
}

static void check_characters(void)
{
    CHECK(tfd_glob_matches("?", "\xc3\xa9") && !tfd_glob_matches("?"
                                                                 "?",
                                                                 "\xc3\xa9"));
    CHECK(tfd_glob_matches("[x\xc3\xa9]", "\xc3\xa9") && !tfd_glob_matches("[!\xc3\xa9]", "\xc3\xa9"));
    CHECK(tfd_glob_matches("[\xc3\xa0-\xc3\xaf]", "\xc3\xa9"));
    CHECK(!tfd_glob_matches("[\xc3\xa0-\xc3\xaf]", "\xc3\xb0"));
    CHECK(tfd_glob_matches("*\xe2\x82\xac", "1 \xe2\x82\xac") &&
          !tfd_glob_matches("*\x82\xac", "1 \xe2\x82\xac"));
    /* What is no UTF-8, and what ends in the middle of a character. */
    CHECK(tfd_glob_matches("?", "\xff") && tfd_glob_matches("\xff", "\xff") &&
          !tfd_glob_matches("\xff", "\xfe"));
    CHECK(tfd_glob_matches("a?", "a\xc3") && tfd_glob_matches("?"
                                                              "?",
                                                              "\xe2\x82"));
}

int main(int argc, char **argv)
{
    srandom(1);
    check_as_fnmatch(check_repeats(argc, argv, 1000000));
    check_long_ones();
    check_characters();
    return 0;
}
