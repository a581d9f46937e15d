/* Which process a number means, and whose child it is. */
#ifndef TFD_PROCESS_IDENTITY_H
#define TFD_PROCESS_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

/* When a process began, in clock ticks since boot; 0: there is none, or it has ended. */
uint64_t tfd_process_start(int32_t pid);
/* 0: there is no such process, it has ended, or nobody started it. */
int32_t tfd_process_parent(int32_t pid);
/* Inode of /proc/self/ns/pid: in another one a number means another process, or none. 0: not known. */
uint64_t tfd_own_pid_namespace(void);
/* False also where that is not known. */
bool tfd_has_one_thread(void);
/* A thread of this process runs, or waits for a processor, a disk or who traces it; false also where that is not
 * known. */
bool tfd_thread_is_awake(int32_t tid);

#endif
