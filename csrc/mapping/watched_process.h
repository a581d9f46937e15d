/* Whether a process may be watched that did not ask for it: nothing may change for it. */
#ifndef TFD_WATCHED_PROCESS_H
#define TFD_WATCHED_PROCESS_H

#include <stdbool.h>
#include <sys/vfs.h>

/* False in a process of one thread, where fork warns, and setns and unshare refuse, once there are two; and behind a
 * system call filter, which may end the process for a call that it does not know. */
bool tfd_may_add_thread(void);
/* Whether files there are in memory alone: what is mapped of them is not read from storage. */
bool tfd_is_in_memory(const struct statfs *where);

#endif
