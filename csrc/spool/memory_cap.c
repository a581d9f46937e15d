#define _GNU_SOURCE
#include "spool/memory_cap.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/cgroup_memory.h"
#include "base/clock.h"
#include "base/memory_left.h"
#include "spool/stop_request.h"
#include "spool/thinned.h"

#define RESTS                                                                                                \
    100 /* times as long as asking took, in which nobody asks again after a refusal: it takes 1 % of the time */

static struct tfd_spool_header *counting; /* the owner's header; NULL: nothing is recorded here */
static struct tfd_spool_header *mapped;   /* the same in another process than the owner */
static struct tfd_spool_header *own;
static bool in_memory; /* what the spool holds is memory of a control group */
static _Atomic uint64_t claimed, trace_claimed, thinned_claimed; /* by this process */
static _Atomic int64_t refused_until_ns;

/* What a child of fork finds of its parent's is forgotten: that is not mapped there, or mapped by it too. */
void tfd_memory_cap_find(struct tfd_spool *spool, const char *directory, int32_t owner_pid)
{
    char path[TFD_SPOOL_PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/%d.spool", directory, (int)owner_pid);
    bool is_owner = length < 0 || (size_t)length >= sizeof path || !strcmp(path, spool->path);
    if (mapped)
        munmap(mapped, sizeof *mapped);
    mapped = is_owner ? NULL : tfd_spool_header_map(AT_FDCWD, path);
    own = spool->header;
    in_memory = tfd_folder_is_memory(spool->path);
    counting = mapped ? mapped : spool->header;
    atomic_store(&claimed, 0);
    atomic_store(&trace_claimed, 0);
    atomic_store(&thinned_claimed, 0);
    atomic_store(&refused_until_ns, 0);
}

void tfd_memory_cap_leave(void)
{
    if (mapped)
        munmap(mapped, sizeof *mapped);
    mapped = NULL;
    counting = NULL;
}

static bool take(_Atomic uint64_t *used, uint64_t bytes, uint64_t limit)
{
    if (atomic_fetch_add(used, bytes) + bytes <= limit)
        return true;
    atomic_fetch_sub(used, bytes);
    return false;
}

/* The job's own memory may have grown since the session began. What the session has already is part of what the job
 * would have left without it. Asking reads files of the kernel, which near the limit takes a millisecond. */
static bool memory_allows(uint64_t more_bytes)
{
    if (!in_memory)
        return true;
    int64_t asked_ns = tfd_clock_ns(CLOCK_MONOTONIC);
    if (asked_ns < atomic_load(&refused_until_ns))
        return false;
    uint64_t left = tfd_cgroup_memory_left(), taken = atomic_load(&counting->session_bytes);
    bool allowed = left == UINT64_MAX || taken + more_bytes <= tfd_share_of(left + taken);
    if (!allowed) {
        int64_t now_ns = tfd_clock_ns(CLOCK_MONOTONIC);
        atomic_store(&refused_until_ns, now_ns + RESTS * (now_ns - asked_ns));
        tfd_spool_note_full(own, TFD_FULL_MEMORY);
    }
    return allowed;
}

bool tfd_memory_cap_claim(uint64_t end)
{
    uint64_t before = atomic_load(&claimed);
    while (counting && end > before) {
        bool owed = end <= TFD_LEAST_SPOOL_BYTES;
        if (!owed && !memory_allows(end - before))
            return false;
        if (!take(&counting->session_bytes, end - before, (owed ? 2 : 1) * own->capacity_bytes))
            return false;
        uint64_t seen = before;
        if (atomic_compare_exchange_strong(&claimed, &seen, end))
            return true;
        atomic_fetch_sub(&counting->session_bytes, end - before);
        before = seen;
    }
    return true;
}

void tfd_memory_cap_give_back(uint64_t bytes)
{
    if (counting)
        atomic_fetch_sub(&counting->session_bytes, bytes);
}

void tfd_memory_cap_take_back(uint64_t bytes)
{
    if (counting)
        atomic_fetch_add(&counting->session_bytes, bytes);
}

void tfd_memory_cap_give_back_all(void)
{
    tfd_memory_cap_give_back(atomic_exchange(&claimed, 0));
}

static bool claim_trace(_Atomic uint64_t *mine, uint64_t bytes, uint64_t limit)
{
    uint64_t wanted = atomic_load(mine) + bytes;
    bool owed = wanted <= TFD_LEAST_TRACE_BYTES && wanted <= own->trace_limit_bytes;
    if (!take(&counting->trace_bytes, bytes, owed ? UINT64_MAX : limit))
        return false;
    atomic_fetch_add(mine, bytes);
    return true;
}

static uint64_t kept_limit(void)
{
    return own->trace_limit_bytes - own->trace_limit_bytes / TFD_THINNED_PARTS;
}

bool tfd_trace_cap_claim(uint64_t bytes)
{
    return claim_trace(&trace_claimed, bytes, kept_limit());
}

bool tfd_thinned_cap_claim(uint64_t bytes)
{
    return claim_trace(&thinned_claimed, bytes, own->trace_limit_bytes);
}

uint64_t tfd_trace_cap_claimed(void)
{
    return atomic_load(&trace_claimed);
}

uint64_t tfd_trace_cap_left(void)
{
    uint64_t taken = atomic_load(&counting->trace_bytes), limit = kept_limit();
    return taken < limit ? limit - taken : 0;
}
