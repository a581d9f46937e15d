/* Windows of a span of records that are read into the page cache, each once, whichever call needs it. */
#ifndef TFD_LMDB_WINDOWS_H
#define TFD_LMDB_WINDOWS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum { TFD_LMDB_WINDOWS = 8 };

struct tfd_lmdb_windows {
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t ended; /* a window was read */
    struct {
        uint64_t key; /* 0: none */
        bool reading;
    } known[TFD_LMDB_WINDOWS];
    unsigned next;
};

void tfd_lmdb_windows_begin(struct tfd_lmdb_windows *windows);
/* Return true if the caller shall read the window and then end that. Return false if the page cache has it, or another
 * call reads it; with `waits`, after that call has read it without a failure. */
bool tfd_lmdb_windows_take(struct tfd_lmdb_windows *windows, uint64_t key, bool waits);
/* End the reading of a window. If it could not be read, it can be taken again. */
void tfd_lmdb_windows_end(struct tfd_lmdb_windows *windows, uint64_t key, bool is_read);

#endif
