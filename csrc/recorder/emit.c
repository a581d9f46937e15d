/* Where the hot path of events ends: at a slot that is not set up, and at a chunk that is full. */
#define _GNU_SOURCE
#include "recorder/emit.h"

#include <errno.h>
#include <pthread.h>
#include <sys/prctl.h>

#include "recorder/recording.h"
#include "recorder/thread_chunks.h"

/* Number of the session this call belongs to, 0 for none. Read once: a session
 * may stop at any moment, and a slot set up for none would seem current ever
 * after. A vfork child whose vfork we did not see shows by its process number. */
static uint32_t session_to_join(void)
{
    if (atomic_load(&tfd_shared->child_pending))
        tfd_child_begin();
    uint32_t generation = atomic_load(&tfd_shared->generation);
    return generation && tfd_own_pid() == tfd_session.pid ? generation : 0;
}

/* What signal handlers did while the slot was being set up. Those that come now add to the thread's sums. */
static void add_early(struct tfd_slot *slot)
{
    tfd_add_traffic(&slot->thread->other[TFD_OTHER_SKIPPED], &slot->early);
    slot->early = (struct tfd_other_traffic){0};
}

struct tfd_slot *tfd_set_up(struct tfd_slot *slot)
{
    int saved_errno = errno, cancel_state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    uint32_t generation = session_to_join();
    if (generation) {
        char name[17] = "";
        prctl(PR_GET_NAME, name);
        tfd_chunks_begin(slot, name);
        atomic_store(&slot->generation, generation);
        if (slot->thread)
            add_early(slot);
    } else {
        tfd_leave(slot);
    }
    pthread_setcancelstate(cancel_state, NULL);
    errno = saved_errno;
    return generation ? slot : NULL;
}

void tfd_emit_slowly(struct tfd_slot *slot, struct tfd_event event)
{
    int saved_errno = errno;
    if (tfd_stop_was_requested())
        tfd_abandon();
    else if (!tfd_chunks_next(slot) || !tfd_chunk_append(slot->chunk, &event))
        tfd_chunks_emit_shared(&event);
    errno = saved_errno;
}
