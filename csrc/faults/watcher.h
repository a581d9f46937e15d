/* The thread that watches page faults and the page cache while files are mapped. It has a table of descriptors of its
 * own: the program neither sees nor closes them, and they count for no limit of its. */
#ifndef TFD_WATCHER_H
#define TFD_WATCHER_H

#include <stdbool.h>
#include <stdint.h>

/* Starts it where it does not run, and waits a moment until it watches. */
void tfd_watcher_start(void);
/* Has it look at a file's pages from now on, by the caller's descriptor, and waits a moment for that; `fd` below 0:
 * by the file's path. */
void tfd_watcher_begin_file(uint64_t file, int fd);
/* Before the process ends: has it look once more, and waits a moment for that. */
void tfd_watcher_settle(void);
/* False where it is stuck. */
bool tfd_watcher_stop(void);
void tfd_watcher_reset_in_child(void);

#endif
