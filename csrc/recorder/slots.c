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

/* How the slots are used. Beside tfd_shared, zeroed in a forked child. */
struct slot_use {
    _Atomic uint32_t used;       /* slots that have had an owner */
    _Atomic uint32_t doublings;  /* of how many there may be before those of ended threads are looked for */
    _Atomic uint32_t to_look_at; /* slots, from the first one on, that this search has still to look at */
    _Atomic uint32_t found;      /* by this search */
    _Atomic uint32_t searched;   /* 1: there was a search since the last doubling */
};

static struct tfd_slot *slots; /* MAX_SLOTS */
static struct slot_use *use;

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
    use = (struct slot_use *)(memory + 64);
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
    return tid && syscall(SYS_tgkill, tfd_own_pid(), tid, 0) < 0 && errno == ESRCH;
}

/* No session has this number, so the slot's first use sets it up. */
#define NEVER_SET_UP UINT32_MAX

/* The exchange reads what tfd_leave() stored: all that the thread before wrote is seen. */
static struct tfd_slot *clean_slot(struct tfd_slot *slot)
{
    atomic_exchange(&slot->busy, 0);
    atomic_store(&slot->generation, NEVER_SET_UP);
    atomic_store(&slot->owed, 0);
    slot->early = (struct tfd_other_traffic){0};
    return slot;
}

static struct tfd_slot *take_left(int32_t tid)
{
    uint32_t left = atomic_load(&use->to_look_at);
    while (left) {
        if (!atomic_compare_exchange_weak(&use->to_look_at, &left, left - 1))
            continue;
        struct tfd_slot *slot = &slots[left - 1];
        int32_t old = atomic_load(&slot->tid);
        if (thread_is_gone(old) && atomic_compare_exchange_strong(&slot->tid, &old, tid)) {
            atomic_fetch_add(&use->found, 1);
            return clean_slot(slot);
        }
        left = atomic_load(&use->to_look_at);
    }
    return NULL;
}

static uint32_t slot_limit(void)
{
    return TFD_THREADS_IN_FIRST_SEGMENT << atomic_load(&use->doublings);
}

static struct tfd_slot *take_new(int32_t tid)
{
    uint32_t index = atomic_load(&use->used);
    while (index < slot_limit())
        if (atomic_compare_exchange_weak(&use->used, &index, index + 1)) {
            atomic_store(&slots[index].tid, tid);
            return clean_slot(&slots[index]);
        }
    return NULL;
}

/* Searches again, or lets there be twice as many slots if the last search found less than half of them: so a search
 * pays for many threads, and there are at most four times as many slots as threads at one time. Threads that come here
 * at once may do so once too often. Returns false where there are no more. */
static bool look_again(void)
{
    uint32_t doublings = atomic_load(&use->doublings), used = atomic_load(&use->used);
    uint32_t found = atomic_exchange(&use->found, 0);
    if (!atomic_exchange(&use->searched, 1) || found >= used / 2) {
        atomic_store(&use->to_look_at, used);
        return true;
    }
    atomic_store(&use->searched, 0);
    if (slot_limit() < MAX_SLOTS)
        atomic_compare_exchange_strong(&use->doublings, &doublings, doublings + 1);
    else
        return found;
    return true;
}

/* A new slot, or that of a thread that ended. Slots outlive threads: the
 * stopping thread reads them, and a thread's own memory is gone when it ends.
 * Another process that runs in this memory gets none: by its number it would
 * seem to have ended. */
static struct tfd_slot *take_slot(void)
{
    int32_t tid = own_tid();
    struct tfd_slot *slot;
    if (!atomic_load(&tfd_shared->child_pending) && tfd_own_pid() != tfd_session.pid)
        return NULL;
    do {
        slot = take_left(tid);
        slot = slot ? slot : take_new(tid);
    } while (!slot && look_again());
    return slot;
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
    uint32_t used = atomic_load(&use->used);
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

bool tfd_await_recorders(void)
{
    return wait_while(is_busy);
}

void tfd_await_owed_events(void)
{
    wait_while(owes_event);
}
