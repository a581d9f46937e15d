/* The mapped files whose pages in the page cache the watching thread looks at, by descriptors of its own. Its alone. */
#ifndef TFD_CACHED_FILES_H
#define TFD_CACHED_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "faults/blocked_threads.h"
#include "spool/mapped_file.h"
#include "spool/spool.h"

/* Of this spool, from now on; the first look is a while off. Descriptors of an earlier thread went with its table. */
void tfd_cached_files_reset(const struct tfd_spool *spool);
/* Looks at a file from now on, by descriptor `fd` of thread `tid`; `fd` below 0: by the file's path. */
void tfd_cached_files_begin(uint64_t file, int32_t tid, int fd);
bool tfd_cached_files_are_due(int64_t now_ns);
/* Looks at all; shares out `*blocked`, which no file has yet, by what came in. What is mapped no longer is looked at for
 * the last time: an open descriptor would keep a deleted file's storage. */
void tfd_cached_files_look(const struct tfd_mapped_files *totals, struct tfd_blocked *blocked, bool is_last);

#endif
