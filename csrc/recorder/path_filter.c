#define _GNU_SOURCE
#include "recorder/path_filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/glob_match.h"

#define SPECIALS "*?[\\"

/* Most patterns are a directory, an ending or a part of a name, which are
 * compared. Others are matched as globs if their literal beginning matches. */
enum shape { PREFIX, SUFFIX, INFIX, GLOB };

struct pattern {
    enum shape shape;
    char *text;
    const char *part; /* the part of the text without special characters, which is compared */
    size_t length;    /* of the part; may be 0 for GLOB */
};

struct pattern_list {
    struct pattern *patterns;
    size_t count;
    uint64_t followed; /* a bit for each pattern whose first match is noted */
};

static struct pattern_list included, excluded;

static void find_part(struct pattern *pattern)
{
    const char *text = pattern->text;
    size_t head = strcspn(text, SPECIALS);
    bool ends_in_slash = head && !text[head] && text[head - 1] == '/';
    pattern->part = text;
    pattern->length = head;
    pattern->shape = head && (ends_in_slash || !strcmp(text + head, "*")) ? PREFIX : GLOB;
    size_t inner = text[0] == '*' ? strcspn(text + 1, SPECIALS) : 0;
    const char *rest = text + 1 + inner;
    if (inner && (!*rest || !strcmp(rest, "*"))) {
        pattern->shape = *rest ? INFIX : SUFFIX;
        pattern->part = text + 1;
        pattern->length = inner;
    }
}

static int compile(struct pattern *pattern, const char *text)
{
    pattern->text = strdup(text);
    if (!pattern->text)
        return -ENOMEM;
    find_part(pattern);
    return 0;
}

static void clear(struct pattern_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->patterns[i].text);
    free(list->patterns);
    *list = (struct pattern_list){0};
}

static uint64_t low_bits(size_t count)
{
    return count < 64 ? ((uint64_t)1 << count) - 1 : UINT64_MAX;
}

static int fill(struct pattern_list *list, const char *const *texts, size_t count, size_t followed)
{
    clear(list);
    list->followed = low_bits(followed < count ? followed : count);
    list->patterns = calloc(count ? count : 1, sizeof *list->patterns);
    if (!list->patterns)
        return -ENOMEM;
    for (; list->count < count; list->count++)
        if (compile(&list->patterns[list->count], texts[list->count]))
            return -ENOMEM;
    return 0;
}

int tfd_path_filter_set(const struct tfd_options *options)
{
    if (fill(&included, options->include, options->include_count, options->include_count) ||
        fill(&excluded, options->exclude, options->exclude_count, options->exclude_followed))
        return tfd_fail(ENOMEM, "no memory for the path patterns");
    return 0;
}

static bool matches(const struct pattern *pattern, const char *path, size_t length)
{
    size_t part = pattern->length;
    if (length < part)
        return false;
    switch (pattern->shape) {
    case SUFFIX:
        return !memcmp(path + length - part, pattern->part, part);
    case INFIX:
        return memmem(path, length, pattern->part, part);
    case PREFIX:
        return !memcmp(path, pattern->part, part);
    default:
        return !memcmp(path, pattern->part, part) && tfd_glob_matches(pattern->text, path);
    }
}

static bool any_matches(const struct pattern_list *list, const char *path, size_t length)
{
    for (size_t i = 0; i < list->count; i++)
        if (matches(&list->patterns[i], path, length))
            return true;
    return false;
}

/* Note patterns that match for the first time, even if another pattern decides. Once all have matched, this is one
 * load. */
static void note(const struct pattern_list *list, const char *path, size_t length, _Atomic uint64_t *met)
{
    uint64_t unmet = list->followed & ~atomic_load_explicit(met, memory_order_relaxed);
    for (; unmet; unmet &= unmet - 1)
        if (matches(&list->patterns[__builtin_ctzll(unmet)], path, length))
            atomic_fetch_or_explicit(met, unmet & -unmet, memory_order_relaxed);
}

bool tfd_path_wanted(const char *path, size_t length, struct tfd_patterns_met *met)
{
    if (met) {
        note(&included, path, length, &met->include);
        note(&excluded, path, length, &met->exclude);
    }
    return !any_matches(&excluded, path, length) || any_matches(&included, path, length);
}
