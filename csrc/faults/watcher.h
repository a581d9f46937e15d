/* The thread that watches page faults and the page cache while files are mapped. It has its own table of descriptors:
 * the program neither sees nor closes them, and they do not count toward its limit. */
#ifndef TFD_WATCHER_H
#define TFD_WATCHER_H

#include <stdbool.h>
#include <stdint.h>

/* Start the thread if it does not run, and wait a moment until it watches. */
void tfd_watcher_start(void);
/* Have the thread look at a file's pages from now on, and wait a moment until it does. `fd`: the caller's descriptor,
 * negative to use the file's path. */
void tfd_watcher_begin_file(uint64_t file, int fd);
/* Have the thread look once more, and wait a moment for that. Call this before the process ends. */
void tfd_watcher_settle(void);
/* Stop the thread; return false if it is stuck. */
bool tfd_watcher_stop(void);
void tfd_watcher_reset_in_child(void);

#endif
