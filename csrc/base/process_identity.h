/* Which process a process number means, and whose child that process is. */
#ifndef TFD_PROCESS_IDENTITY_H
#define TFD_PROCESS_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

/* Return when a process began, in clock ticks since boot; 0 if there is no such process or it has ended. */
uint64_t tfd_process_start(int32_t pid);
/* Return the parent's number; 0 if there is no such process, it has ended, or it has no parent. */
int32_t tfd_process_parent(int32_t pid);
/* Return true if neither `ancestor` nor a descendant of it will wait for this process's end: its parent has ended. The
 * kernel then adds this process's I/O to no other process. False if that is not known. */
bool tfd_is_orphan_of(int32_t ancestor);
/* Return true if the kernel itself reaps children of this process. It then adds their I/O to no other process. */
bool tfd_ignores_children(void);
/* Return true if this process has children that it has not waited for. */
bool tfd_has_children(void);
/* Return the inode of /proc/self/ns/pid; 0 if it is not known. In another namespace a number means another process, or
 * none. */
uint64_t tfd_own_pid_namespace(void);
/* Return true if this process has one thread; false if that is not known. */
bool tfd_has_one_thread(void);
/* Return true if a thread of this process runs, or waits for a processor, a disk or its tracer; false if that is not
 * known. */
bool tfd_thread_is_awake(int32_t tid);

#endif
