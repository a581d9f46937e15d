/* The memory that control groups (versions 1 and 2) leave to this process: one of the limits of base/memory_left.h. */
#ifndef TFD_CGROUP_MEMORY_H
#define TFD_CGROUP_MEMORY_H

#include <stdint.h>

/* Find the groups that limit the memory of this process: its own group and those that enclose it. `root` is put before
 * the names of the kernel's files; "" outside tests. */
void tfd_cgroups_find(const char *root);
/* Return the bytes that are left, UINT64_MAX if no group limits them. The page cache of files counts as left, since the
 * kernel can drop it. */
uint64_t tfd_cgroup_memory_left(void);

#endif
