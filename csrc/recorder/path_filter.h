/* Decides by path which files get rows of their own. */
#ifndef TFD_PATH_FILTER_H
#define TFD_PATH_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "spool/spool.h"
#include "tfdarshan.h"

/* Copy the patterns; return 0 or -errno. They are shell globs in which * also
 * matches '/'; one that ends in '/' matches everything below. */
int tfd_path_filter_set(const struct tfd_options *options);
/* Return true if no exclude pattern matches or an include pattern does. Notes in
 * `met`, if it is not NULL, which of the followed patterns match. */
bool tfd_path_wanted(const char *path, size_t length, struct tfd_patterns_met *met);

#endif
