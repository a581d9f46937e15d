/* Decides by path which files get rows of their own. */
#ifndef TFD_PATH_FILTER_H
#define TFD_PATH_FILTER_H

#include <stdbool.h>
#include <stddef.h>

/* Patterns are shell globs in which * also matches '/'; one that ends in '/'
 * means everything below. Copies them; 0 or -errno. */
int tfd_path_filter_set(const char *const *include, size_t include_count, const char *const *exclude,
                        size_t exclude_count);
/* True where no exclude pattern matches, or an include pattern does. */
bool tfd_path_wanted(const char *path, size_t length);

#endif
