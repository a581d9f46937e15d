/* The slots of threads: found, lent to a child of vfork, looked at by the thread that stops. */
#define _GNU_SOURCE
#include "recorder/slots.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "recorder/session.h"

#include <linux/membarrier.h>

#define MAX_SLOTS (1u << 16)

__thread struct tfd_slot *tfd_own_slot __attribute__((tls_model("initial-exec")));
/* Since its vfork this thread's memory may be in use by a child: process that called it, and its slot. */
__thread int32_t tfd_lender_pid __attribute__((tls_model("initial-exec")));
static __thread struct tfd_slot *lent_slot __attribute__((tls_model("initial-exec")));

static struct tfd_slot *slots;       /* MAX_SLOTS */
static _Atomic uint32_t *slots_used; /* beside tfd_shared, zeroed in a forked child */

bool tfd_slots_initialize(void)
{
    if (slots)
        return true;
    size_t state_bytes = (size_t)sysconf(_SC_PAGESIZE), bytes = state_bytes + MAX_SLOTS * sizeof *slots;
    char *memory =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    /* The slots themselves stay: zeroed, a slot would seem set up for the child's session number 0. */
    madvise(memory, state_bytes, MADV_WIPEONFORK);
    slots_used = (_Atomic uint32_t *)(memory + 64);
    slots = (struct tfd_slot *)(memory + state_bytes);
    tfd_shared = (struct tfd_shared_state *)memory;
    return true;
}

int32_t tfd_own_pid(void)
{
    return (int32_t)syscall(SYS_getpid);
}

static int32_t own_tid(void)
{
    return (int32_t)syscall(SYS_gettid);
}

static bool thread_is_gone(int32_t tid)
{
    return tid && syscall(SYS_tgkill, tfd_session.pid, tid, 0) < 0 && errno == ESRCH;
}

/* No session has this number, so the slot's first use sets it up. */
#define NEVER_SET_UP UINT32_MAX

static struct tfd_slot *clean_slot(struct tfd_slot *slot)
{
    atomic_store(&slot->generation, NEVER_SET_UP);
    atomic_store(&slot->busy, 0);
    atomic_store(&slot->owed, 0);
    slot->early = (struct tfd_other_traffic){0};
    return slot;
}

/* A new slot, or that of a thread that ended. Slots outlive threads: the
 * stopping thread reads them, and a thread's own memory is gone when it ends. */
static struct tfd_slot *take_slot(void)
{
    int32_t tid = own_tid();
    uint32_t index = atomic_load(slots_used);
    while (index < MAX_SLOTS)
        if (atomic_compare_exchange_weak(slots_used, &index, index + 1)) {
            atomic_store(&slots[index].tid, tid);
            return clean_slot(&slots[index]);
        }
    for (index = 0; index < MAX_SLOTS; index++) {
        int32_t old = atomic_load(&slots[index].tid);
        if (thread_is_gone(old) && atomic_compare_exchange_strong(&slots[index].tid, &old, tid))
            return clean_slot(&slots[index]);
    }
    return NULL;
}

void tfd_lend_to_vfork_child(void)
{
    if (tfd_own_slot)
        lent_slot = tfd_own_slot;
    tfd_own_slot = NULL;
    if (!tfd_lender_pid)
        tfd_lender_pid = tfd_own_pid();
}

/* The child has left this memory as soon as its parent runs again. */
bool tfd_memory_is_ours(void)
{
    if (tfd_lender_pid == tfd_own_pid())
        tfd_lender_pid = 0;
    return !tfd_lender_pid;
}

static struct tfd_slot *take_back_lent_slot(void)
{
    struct tfd_slot *slot = lent_slot;
    lent_slot = NULL;
    return slot;
}

struct tfd_slot *tfd_find_slot(void)
{
    if (!tfd_is_recording_or_about_to())
        return NULL;
    if (tfd_memory_is_lent())
        return NULL;
    int saved_errno = errno;
    struct tfd_slot *slot = lent_slot ? take_back_lent_slot() : take_slot();
    tfd_own_slot = slot;
    errno = saved_errno;
    return slot;
}

bool tfd_is_interrupted(void)
{
    return tfd_own_slot && atomic_load(&tfd_own_slot->busy);
}

void tfd_slots_reset_in_child(void)
{
    tfd_own_slot = lent_slot = NULL;
    tfd_lender_pid = 0;
}

static bool is_busy(struct tfd_slot *slot)
{
    return atomic_load(&slot->busy);
}

static bool owes_event(struct tfd_slot *slot)
{
    return atomic_load(&slot->owed);
}

/* Waits for all other threads, a second at most: false if one of them is still so. */
static bool wait_while(bool (*is_so)(struct tfd_slot *))
{
    int64_t deadline_ns = tfd_clock_sample_now().monotonic_ns + 1000000000;
    uint32_t used = atomic_load(slots_used);
    for (uint32_t i = 0; i < used; i++)
        while (is_so(&slots[i]) && &slots[i] != tfd_own_slot && !thread_is_gone(atomic_load(&slots[i].tid))) {
            if (tfd_clock_sample_now().monotonic_ns > deadline_ns)
                return false;
            sched_yield();
        }
    return true;
}

/* Every thread is now outside the recorder, or will see that the session is over:
 * the barrier makes its busy mark and our generation visible to each other. */
bool tfd_quiesce(void)
{
    syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0))
        syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
    return wait_while(is_busy);
}

void tfd_await_owed_events(void)
{
    wait_while(owes_event);
}
