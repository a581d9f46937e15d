/* Which process a number means, and whose child it is. */
#ifndef TFD_PROCESS_IDENTITY_H
#define TFD_PROCESS_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

/* When a process began, in clock ticks since boot; 0: there is none, or it has ended. */
uint64_t tfd_process_start(int32_t pid);
/* 0: there is no such process, it has ended, or nobody started it. */
int32_t tfd_process_parent(int32_t pid);
/* This process's end is nobody's to wait for who is `ancestor`, or comes from it: its parent has ended, and the kernel
 * adds what this process moved to nobody's figures. False also where that is not known. */
bool tfd_is_orphan_of(int32_t ancestor);
/* The kernel itself clears away children of this process as they end, and adds what they moved to nobody's figures. */
bool tfd_ignores_children(void);
/* This process has children that it has not waited for. */
bool tfd_has_children(void);
/* Inode of /proc/self/ns/pid: in another one a number means another process, or none. 0: not known. */
uint64_t tfd_own_pid_namespace(void);
/* False also where that is not known. */
bool tfd_has_one_thread(void);
/* A thread of this process runs, or waits for a processor, a disk or who traces it; false also where that is not
 * known. */
bool tfd_thread_is_awake(int32_t tid);

#endif
