/* Windows of a span of records that the page cache takes, each once, whoever asks for it. */
#ifndef TFD_LMDB_WINDOWS_H
#define TFD_LMDB_WINDOWS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum { TFD_LMDB_WINDOWS = 8 };

struct tfd_lmdb_windows {
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t ended; /* a reading of a window */
    struct {
        uint64_t key; /* 0: none */
        bool reading;
    } known[TFD_LMDB_WINDOWS];
    unsigned next;
};

void tfd_lmdb_windows_begin(struct tfd_lmdb_windows *windows);
/* True: who asks is to read the window, and to end that. False: the page cache has it, or another reads it; where
 * `waits` is set that one has ended by then, and had no failure. */
bool tfd_lmdb_windows_take(struct tfd_lmdb_windows *windows, uint64_t key, bool waits);
/* One that could not be read is to be taken again. */
void tfd_lmdb_windows_end(struct tfd_lmdb_windows *windows, uint64_t key, bool is_read);

#endif
