/* State and locks of the running session. Threads that start, stop or fork change them. */
#include "recorder/session.h"

static struct tfd_shared_state before_initialization;
struct tfd_shared_state *_Atomic tfd_shared = &before_initialization;
struct tfd_session tfd_session;
bool tfd_fork_is_handled;
pthread_mutex_t tfd_tables_lock = PTHREAD_MUTEX_INITIALIZER, tfd_fold_lock = PTHREAD_MUTEX_INITIALIZER;

int tfd_tables_lock_take(void)
{
    int cancel_state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    pthread_mutex_lock(&tfd_tables_lock);
    return cancel_state;
}

void tfd_tables_lock_give(int cancel_state)
{
    pthread_mutex_unlock(&tfd_tables_lock);
    pthread_setcancelstate(cancel_state, NULL);
}
