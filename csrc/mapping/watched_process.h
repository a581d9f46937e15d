/* Whether a process that did not ask for it may be watched: watching must not change its behaviour. */
#ifndef TFD_WATCHED_PROCESS_H
#define TFD_WATCHED_PROCESS_H

#include <stdbool.h>
#include <sys/vfs.h>

/* Return false in a process of one thread: with two threads Python's fork warns, and setns(2) and unshare(2) fail. Also
 * false behind a system call filter, which may end the process for a call that it does not know. */
bool tfd_may_add_thread(void);
/* Return true if files there are only in memory, so that mapping them reads nothing from storage. */
bool tfd_is_in_memory(const struct statfs *where);

#endif
