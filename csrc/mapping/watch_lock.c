#include "mapping/watch_lock.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void tfd_watch_lock(void)
{
    pthread_mutex_lock(&lock);
}

void tfd_watch_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

void tfd_watch_lock_reset_in_child(void)
{
    pthread_mutex_init(&lock, NULL);
}
