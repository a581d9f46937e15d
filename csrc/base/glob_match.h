/* Shell globs, matched in a few bytes of stack: fnmatch copies pattern and path there as wide characters, more
 * than a signal handler's stack may have. */
#ifndef TFD_GLOB_MATCH_H
#define TFD_GLOB_MATCH_H

#include <stdbool.h>

/* What fnmatch says with no flags in a UTF-8 locale: '*' and '?' match '/' too. Classes as in [[:digit:]] are of
 * ASCII characters, ranges by the characters' numbers; what is no UTF-8 is matched byte by byte. */
bool tfd_glob_matches(const char *pattern, const char *text);

#endif
