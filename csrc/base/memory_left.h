/* What is left to this process of the memory that it may use. */
#ifndef TFD_MEMORY_LEFT_H
#define TFD_MEMORY_LEFT_H

#include <stdint.h>

#include "tfdarshan.h"

/* The most that a recording may take of what is left: the job's own memory may still grow. */
static inline uint64_t tfd_share_of(uint64_t left)
{
    return left == UINT64_MAX ? left : left / TFD_MEMORY_SHARE;
}

/* Address space is looked at by each process: what it maps counts against its own limits. Lowers both bounds. */
void tfd_fit_address_space(uint64_t *capacity_bytes, uint64_t *trace_limit_bytes);

#endif
