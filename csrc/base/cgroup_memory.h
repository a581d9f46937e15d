/* Memory that the control groups of this process leave it, of versions 1 and 2. */
#ifndef TFD_CGROUP_MEMORY_H
#define TFD_CGROUP_MEMORY_H

#include <stdint.h>

/* Finds the groups that limit the memory of this process: its own, and those that enclose it. `root` is put before
 * the names of files that the kernel gives: "", but in tests. */
void tfd_cgroups_find(const char *root);
/* Bytes; UINT64_MAX where no group limits them. Page cache of files, which the kernel drops, counts as left. */
uint64_t tfd_cgroup_memory_left(void);

#endif
