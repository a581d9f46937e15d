/* The mapped files whose pages in the page cache the watching thread looks at, by its own descriptors. Only that thread
 * calls these. */
#ifndef TFD_CACHED_FILES_H
#define TFD_CACHED_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "faults/blocked_threads.h"
#include "spool/mapped_file.h"
#include "spool/spool.h"

/* Begin with this spool; the first look comes after LOOK_NS. Descriptors of an earlier thread were closed with its
 * table. */
void tfd_cached_files_reset(const struct tfd_spool *spool);
/* Look at a file from now on, by descriptor `fd` of thread `tid`, or by the file's path if `fd` is negative. */
void tfd_cached_files_begin(uint64_t file, int32_t tid, int fd);
bool tfd_cached_files_are_due(int64_t now_ns);
/* Look at all files, and share out the times in `*blocked` by the bytes that came in. Files that are not mapped any
 * more are looked at for the last time, since an open descriptor would keep a deleted file's storage. */
void tfd_cached_files_look(const struct tfd_mapped_files *totals, struct tfd_blocked *blocked, bool is_last);

#endif
