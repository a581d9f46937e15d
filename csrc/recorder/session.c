/* State and locks of the running session. Threads that start, stop or fork change them. */
#include "recorder/session.h"

static struct tfd_shared_state before_initialization;
struct tfd_shared_state *_Atomic tfd_shared = &before_initialization;
struct tfd_session tfd_session;
bool tfd_fork_is_handled;
pthread_mutex_t tfd_tables_lock = PTHREAD_MUTEX_INITIALIZER, tfd_fold_lock = PTHREAD_MUTEX_INITIALIZER;
