#include "mapping/mapping_lock.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void tfd_mapping_lock(void)
{
    pthread_mutex_lock(&lock);
}

void tfd_mapping_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

void tfd_mapping_lock_reset_in_child(void)
{
    pthread_mutex_init(&lock, NULL);
}
