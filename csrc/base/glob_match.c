#include "base/glob_match.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Return the length in bytes of the character at `text`, and its code point. A byte that begins no character counts as
 * one. */
static size_t decode(const char *text, uint32_t *code)
{
    const unsigned char *bytes = (const unsigned char *)text;
    static const unsigned char lead_mask[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    size_t length = bytes[0] < 0x80 ? 1 : bytes[0] >= 0xf0 && bytes[0] < 0xf8 ? 4 : 0;
    if (!length)
        length = bytes[0] >= 0xe0 && bytes[0] < 0xf0 ? 3 : bytes[0] >= 0xc2 && bytes[0] < 0xe0 ? 2 : 1;
    *code = length > 1 ? bytes[0] & lead_mask[length] : bytes[0];
    for (size_t i = 1; i < length; i++) {
        if ((bytes[i] & 0xc0) != 0x80) { /* also at the text's end */
            *code = bytes[0];
            return 1;
        }
        *code = *code << 6 | (bytes[i] & 0x3f);
    }
    return length;
}

static bool is_lower(uint32_t code)
{
    return code >= 'a' && code <= 'z';
}

static bool is_upper(uint32_t code)
{
    return code >= 'A' && code <= 'Z';
}

static bool is_digit(uint32_t code)
{
    return code >= '0' && code <= '9';
}

static bool is_alpha(uint32_t code)
{
    return is_lower(code) || is_upper(code);
}

static bool is_alnum(uint32_t code)
{
    return is_alpha(code) || is_digit(code);
}

static bool is_graph(uint32_t code)
{
    return code > ' ' && code < 0x7f;
}

static bool is_print(uint32_t code)
{
    return code == ' ' || is_graph(code);
}

static bool is_punct(uint32_t code)
{
    return is_graph(code) && !is_alnum(code);
}

static bool is_blank(uint32_t code)
{
    return code == ' ' || code == '\t';
}

static bool is_space(uint32_t code)
{
    return code == ' ' || (code >= '\t' && code <= '\r');
}

static bool is_cntrl(uint32_t code)
{
    return code < ' ' || code == 0x7f;
}

static bool is_xdigit(uint32_t code)
{
    return is_digit(code) || (code >= 'a' && code <= 'f') || (code >= 'A' && code <= 'F');
}

static const struct {
    const char *name;
    bool (*holds)(uint32_t code);
} classes[] = {
    {"lower", is_lower}, {"upper", is_upper}, {"digit", is_digit}, {"alpha", is_alpha},
    {"alnum", is_alnum}, {"graph", is_graph}, {"print", is_print}, {"punct", is_punct},
    {"blank", is_blank}, {"space", is_space}, {"cntrl", is_cntrl}, {"xdigit", is_xdigit},
};

/* Return what follows "[:name:]" at `at`, NULL if that is not a class. */
static const char *class_end(const char *at, uint32_t code, bool *holds)
{
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        size_t length = strlen(classes[i].name);
        if (!strncmp(at + 2, classes[i].name, length) && !strncmp(at + 2 + length, ":]", 2)) {
            *holds |= classes[i].holds(code);
            return at + length + 4;
        }
    }
    return NULL;
}

/* Read one character of a set, which '\' may protect; return what follows, NULL at the pattern's end. */
static const char *set_member(const char *at, uint32_t *code)
{
    at += *at == '\\';
    return *at ? at + decode(at, code) : NULL;
}

/* Look for `code` in the set that begins behind '['; return what follows its ']', NULL if it has none. */
static const char *match_set(const char *at, uint32_t code, bool *matches)
{
    bool negated = *at == '!' || *at == '^', found = false, first = true;
    at += negated;
    for (; first || *at != ']'; first = false) {
        const char *behind = at[0] == '[' && at[1] == ':' ? class_end(at, code, &found) : NULL;
        uint32_t low, high;
        if (!behind) {
            behind = set_member(at, &low);
            high = low;
            if (behind && behind[0] == '-' && behind[1] && behind[1] != ']')
                behind = set_member(behind + 1, &high);
            if (!behind)
                return NULL;
            found |= low <= code && code <= high;
        }
        at = behind;
    }
    *matches = found != negated;
    return at + 1;
}

/* Match one character against a pattern that is not at a '*'; return the rest of the pattern, NULL if it does not
 * match. */
static const char *match_one(const char *pattern, uint32_t code)
{
    uint32_t wanted;
    bool matches = false;
    if (*pattern == '?')
        return pattern + 1;
    if (*pattern == '[') {
        const char *behind = match_set(pattern + 1, code, &matches);
        if (behind)
            return matches ? behind : NULL;
    }
    pattern += *pattern == '\\';
    size_t length = *pattern ? decode(pattern, &wanted) : 0;
    return length && wanted == code ? pattern + length : NULL;
}

/* If the text behind the last '*' does not match, this tries again one character further on. Earlier ones need no
 * second try. */
bool tfd_glob_matches(const char *pattern, const char *text)
{
    const char *behind_star = NULL, *tried = NULL;
    while (*text) {
        uint32_t code;
        size_t length = decode(text, &code);
        if (*pattern == '*') {
            behind_star = ++pattern;
            tried = text;
            continue;
        }
        pattern = *pattern ? match_one(pattern, code) : NULL;
        if (pattern) {
            text += length;
            continue;
        }
        if (!behind_star)
            return false;
        tried += decode(tried, &code);
        pattern = behind_star;
        text = tried;
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}
