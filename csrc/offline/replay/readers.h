/* Readers. The one that is free first takes the next task. */
#ifndef TFD_REPLAY_READERS_H
#define TFD_REPLAY_READERS_H

#include <stddef.h>
#include <stdint.h>

/* A binary heap: no reader is free before its parent at half its index. */
struct tfd_replay_readers {
    double *free_s;
    size_t count;
};

/* Begin with `count` readers, at least 1, that are free from 0 s on. `room`: memory for them. */
void tfd_replay_gather(struct tfd_replay_readers *readers, double *room, int64_t count);
/* Let the reader that is free first be busy until `until_s`. */
void tfd_replay_busy(struct tfd_replay_readers *readers, double until_s);

#endif
