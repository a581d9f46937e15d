/* Checks of whether the originals of staged files are unchanged since they were copied.
 *
 * A check holds for `trusted_ns` of the table, for all processes that use the table. Processes of ours check ahead
 * for a few seconds while the job's program starts, so that its first opens need no check. */
#ifndef TFD_ORIGINAL_LOOK_H
#define TFD_ORIGINAL_LOOK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "wrappers/redirect_table.h"

bool tfd_is_regular_file_of(const struct stat *found, int64_t size, int64_t mtime_ns);
/* Return true if the file's original is unchanged, by a check that still holds or by a new one. Changes errno. */
bool tfd_original_holds(struct tfd_redirected *file);

/* Start checking all of a table's originals, for `for_ns` at most, by one process, or by up to `most` if checks take
 * long. Returns at once, and nothing waits for these processes: a check on a server that does not answer may never end,
 * nor can a process in such a check. A program's wait(2) does not find them, and they end with the program. */
void tfd_look_ahead_start(const struct tfd_redirect_table *table, int32_t most, int64_t for_ns);
/* Begin no more checks. */
void tfd_look_ahead_stop(const struct tfd_redirect_table *table);

#endif
