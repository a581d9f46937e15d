/* The recorder's state of the running session. */
#ifndef TFD_SESSION_H
#define TFD_SESSION_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "spool/spool.h"

/* This is on pages that are zeroed in a child (MADV_WIPEONFORK), also after
 * _Fork() and clone(2), which run no handlers. So a child never records into
 * its parent's spool. */
struct tfd_shared_state {
    _Atomic uint32_t generation;    /* of the running session; 0 = not recording */
    _Atomic uint32_t child_pending; /* a new child, which records from its first call on */
};

enum { TFD_CHILD_NOT_PENDING, TFD_CHILD_PENDING, TFD_CHILD_STARTING };

struct tfd_session {
    bool active;
    bool follow_children;
    bool uncounted_child;   /* its parent lets the kernel reap it */
    uint32_t user;          /* effective user when recording began here */
    int32_t pid, owner_pid; /* this process, and the one that started the session */
    uint64_t pid_namespace; /* of both; a child may be in another */
    uint32_t generation;    /* last one given out */
    uint64_t capacity_bytes, trace_limit_bytes;
    char directory[TFD_SPOOL_PATH_MAX];
    struct tfd_spool spool;
};

/* Set once everything is there that a thread needs that finds a session here. */
extern struct tfd_shared_state *_Atomic tfd_shared;
extern struct tfd_session tfd_session;

/* Our fork handlers are registered. Those of other recorders in this process must come after them. */
extern bool tfd_fork_is_handled;

/* Locks of the tables of names and descriptors, and of folding. Only threads that are marked busy take them, so that a
 * signal handler never waits for its own thread. */
extern pthread_mutex_t tfd_tables_lock, tfd_fold_lock;

/* Take the tables' lock: nobody cancels the thread that holds it. Unlock it with what this returns. */
int tfd_tables_lock_take(void);
void tfd_tables_lock_give(int cancel_state);

/* The order matters: a starting child sets its generation before it clears `child_pending`. */
static inline bool tfd_is_recording_or_about_to(void)
{
    return atomic_load(&tfd_shared->child_pending) || atomic_load(&tfd_shared->generation);
}

static inline bool tfd_stop_was_requested(void)
{
    return atomic_load_explicit(&tfd_session.spool.header->stop_requested, memory_order_relaxed);
}

#endif
