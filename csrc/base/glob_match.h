/* Shell globs, matched in a few bytes of stack. fnmatch(3) copies pattern and path to the stack as wide characters,
 * which may be more than a signal handler's stack has. */
#ifndef TFD_GLOB_MATCH_H
#define TFD_GLOB_MATCH_H

#include <stdbool.h>

/* Return the same as fnmatch(3) without flags in a UTF-8 locale: '*' and '?' match '/' too. Classes such as [[:digit:]]
 * hold ASCII characters only, and ranges go by code point. Bytes that are not UTF-8 are matched one by one. */
bool tfd_glob_matches(const char *pattern, const char *text);

#endif
