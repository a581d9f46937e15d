/* Decides by path which files get rows of their own. */
#ifndef TFD_PATH_FILTER_H
#define TFD_PATH_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "spool/spool.h"
#include "tfdarshan.h"

/* Patterns are shell globs in which * also matches '/'; one that ends in '/'
 * means everything below. Copies them; 0 or -errno. */
int tfd_path_filter_set(const struct tfd_options *options);
/* True where no exclude pattern matches, or an include pattern does. Notes in
 * `met`, if that is not NULL, which of the patterns that are followed match. */
bool tfd_path_wanted(const char *path, size_t length, struct tfd_patterns_met *met);

#endif
