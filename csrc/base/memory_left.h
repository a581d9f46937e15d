/* The memory that all limits leave to this process: control groups (base/cgroup_memory.h), RLIMIT_AS and
 * RLIMIT_MEMLOCK. What a session may take of it, spool/memory_cap.h holds. */
#ifndef TFD_MEMORY_LEFT_H
#define TFD_MEMORY_LEFT_H

#include <stdint.h>

#include "tfdarshan.h"

/* Return the most that a recording may take of `left` bytes. The rest stays for the job, whose memory may grow. */
static inline uint64_t tfd_share_of(uint64_t left)
{
    return left == UINT64_MAX ? left : left / TFD_MEMORY_SHARE;
}

/* Lower both bounds to the address space that this process may still map. */
void tfd_fit_address_space(uint64_t *capacity_bytes, uint64_t *trace_limit_bytes);

#endif
