/* Looks at the originals of staged files: whether they are as they were copied.
 *
 * A look holds for a while (`trusted_ns` of the table), for all processes that use the table. Processes of ours make
 * looks ahead, so that the job's first opens need not: a few seconds, while its program starts. */
#ifndef TFD_ORIGINAL_LOOK_H
#define TFD_ORIGINAL_LOOK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "wrappers/redirect_table.h"

bool tfd_is_regular_file_of(const struct stat *found, int64_t size, int64_t mtime_ns);
/* Whether the file's original is as it was copied, by a look that holds, or by a new one. Changes errno. */
bool tfd_original_holds(struct tfd_redirected *file);

/* Looks at all of a table's originals, for `for_ns` at most, by one process, or by up to `most` where looks take long.
 * Returns at once, and nothing waits for them: a look at a server that does not answer may never end, and a process
 * with a thread in one cannot end either. They are no children that a program's wait() finds, and end with it. */
void tfd_look_ahead_start(const struct tfd_redirect_table *table, int32_t most, int64_t for_ns);
/* No look is begun from now on. */
void tfd_look_ahead_stop(const struct tfd_redirect_table *table);

#endif
