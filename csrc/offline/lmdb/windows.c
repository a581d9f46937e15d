#include "offline/lmdb/windows.h"

#include <string.h>

void tfd_lmdb_windows_begin(struct tfd_lmdb_windows *windows)
{
    memset(windows->known, 0, sizeof windows->known);
    windows->next = 0;
    pthread_mutex_init(&windows->lock, NULL);
    pthread_cond_init(&windows->ended, NULL);
}

static int find(const struct tfd_lmdb_windows *windows, uint64_t key)
{
    for (int i = 0; i < TFD_LMDB_WINDOWS; i++)
        if (windows->known[i].key == key)
            return i;
    return -1;
}

/* Add a window in place of the oldest one that is not being read; return false if all are being read. */
static bool add(struct tfd_lmdb_windows *windows, uint64_t key)
{
    for (int tries = 0; tries < TFD_LMDB_WINDOWS; tries++) {
        unsigned at = windows->next++ % TFD_LMDB_WINDOWS;
        if (windows->known[at].reading)
            continue;
        windows->known[at].key = key;
        windows->known[at].reading = true;
        return true;
    }
    return false;
}

bool tfd_lmdb_windows_take(struct tfd_lmdb_windows *windows, uint64_t key, bool waits)
{
    bool taken = false, decided = false;
    pthread_mutex_lock(&windows->lock);
    while (!decided) {
        int at = find(windows, key);
        taken = at < 0 && add(windows, key);
        decided = taken || !waits || (at >= 0 && !windows->known[at].reading);
        if (!decided)
            pthread_cond_wait(&windows->ended, &windows->lock);
    }
    pthread_mutex_unlock(&windows->lock);
    return taken;
}

void tfd_lmdb_windows_end(struct tfd_lmdb_windows *windows, uint64_t key, bool is_read)
{
    pthread_mutex_lock(&windows->lock);
    int at = find(windows, key);
    windows->known[at].reading = false;
    if (!is_read)
        windows->known[at].key = 0;
    pthread_cond_broadcast(&windows->ended);
    pthread_mutex_unlock(&windows->lock);
}
