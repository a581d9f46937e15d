#define _GNU_SOURCE
#include "path_filter.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

/* Most patterns are "below this directory" or "with this ending": those are
 * compared, only the rest goes through fnmatch. */
enum shape { PREFIX, SUFFIX, GLOB };

struct pattern {
    enum shape shape;
    size_t length;
    char *text; /* PREFIX, SUFFIX: without the star */
};

struct pattern_list {
    struct pattern *patterns;
    size_t count;
};

static struct pattern_list included, excluded;

static int compile(struct pattern *pattern, const char *text)
{
    size_t length = strlen(text), specials = strcspn(text, "*?[\\");
    pattern->shape = GLOB;
    if (length && specials == length && text[length - 1] == '/') {
        pattern->shape = PREFIX;
    } else if (length && specials == length - 1 && text[specials] == '*') {
        pattern->shape = PREFIX;
        length--;
    } else if (length > 1 && text[0] == '*' && !text[1 + strcspn(text + 1, "*?[\\")]) {
        pattern->shape = SUFFIX;
        text++;
        length--;
    }
    pattern->length = length;
    pattern->text = strndup(text, length);
    return pattern->text ? 0 : -ENOMEM;
}

static void clear(struct pattern_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->patterns[i].text);
    free(list->patterns);
    *list = (struct pattern_list){0};
}

static int fill(struct pattern_list *list, const char *const *texts, size_t count)
{
    clear(list);
    list->patterns = calloc(count ? count : 1, sizeof *list->patterns);
    if (!list->patterns)
        return -ENOMEM;
    for (; list->count < count; list->count++)
        if (compile(&list->patterns[list->count], texts[list->count]))
            return -ENOMEM;
    return 0;
}

int tfd_path_filter_set(const char *const *include, size_t include_count, const char *const *exclude,
                        size_t exclude_count)
{
    if (fill(&included, include, include_count) || fill(&excluded, exclude, exclude_count))
        return tfd_fail(ENOMEM, "no memory for the path patterns");
    return 0;
}

static bool matches(const struct pattern *pattern, const char *path, size_t length)
{
    switch (pattern->shape) {
    case PREFIX:
        return length >= pattern->length && !memcmp(path, pattern->text, pattern->length);
    case SUFFIX:
        return length >= pattern->length &&
               !memcmp(path + length - pattern->length, pattern->text, pattern->length);
    default:
        return !fnmatch(pattern->text, path, 0);
    }
}

static bool any_matches(const struct pattern_list *list, const char *path, size_t length)
{
    for (size_t i = 0; i < list->count; i++)
        if (matches(&list->patterns[i], path, length))
            return true;
    return false;
}

bool tfd_path_wanted(const char *path, size_t length)
{
    return !any_matches(&excluded, path, length) || any_matches(&included, path, length);
}
