#define _GNU_SOURCE
#include "base/memory_left.h"

#include <linux/capability.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cgroup_memory.h"
#include "base/whole_file.h"

static uint64_t limit_of(int resource)
{
    struct rlimit limit;
    return getrlimit(resource, &limit) || limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur;
}

/* Return the mapped bytes. Source: proc_pid_statm(5), the first number, in pages. */
static uint64_t address_space(void)
{
    char *text = tfd_read_whole("/proc/self/statm");
    uint64_t pages = text ? strtoull(text, NULL, 10) : 0;
    free(text);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static bool may_lock_all(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{0}};
    return !syscall(SYS_capget, &header, data) && data[0].effective & CAP_TO_MASK(CAP_IPC_LOCK);
}

/* Return the bytes that the process may still lock. A process that maps more than it may lock cannot use
 * mlockall(2), so then this limit does not bound a recording. */
static uint64_t lockable(uint64_t used)
{
    uint64_t limit = limit_of(RLIMIT_MEMLOCK);
    return limit == UINT64_MAX || used >= limit || may_lock_all() ? UINT64_MAX : limit - used;
}

void tfd_memory_left(const char *root, struct tfd_memory_left *left)
{
    uint64_t used = address_space(), limit = limit_of(RLIMIT_AS);
    tfd_cgroups_find(root);
    *left = (struct tfd_memory_left){
        .cgroup = tfd_cgroup_memory_left(),
        .address_space = limit == UINT64_MAX ? limit
                         : limit > used      ? limit - used
                                             : 0,
        .lockable = lockable(used),
    };
}

int tfd_folder_is_memory(const char *path)
{
    struct statfs status;
    return !statfs(path, &status) && (status.f_type == TMPFS_MAGIC || status.f_type == RAMFS_MAGIC);
}

void tfd_fit_address_space(uint64_t *capacity_bytes, uint64_t *trace_limit_bytes)
{
    struct tfd_memory_left left;
    tfd_memory_left("", &left);
    uint64_t least = left.address_space < left.lockable ? left.address_space : left.lockable;
    uint64_t share = tfd_share_of(least);
    if (share >= *capacity_bytes)
        return;
    *trace_limit_bytes = (uint64_t)((double)*trace_limit_bytes / (double)*capacity_bytes * (double)share);
    *capacity_bytes = share;
}
