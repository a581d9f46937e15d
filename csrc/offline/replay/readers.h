/* Readers, of which the one that is free first takes the next task. */
#ifndef TFD_REPLAY_READERS_H
#define TFD_REPLAY_READERS_H

#include <stddef.h>
#include <stdint.h>

/* No reader is free before the one half as far from the front. */
struct tfd_replay_readers {
    double *free_s;
    size_t count;
};

/* Lets at least one reader be free from 0 on, in such room. */
void tfd_replay_gather(struct tfd_replay_readers *readers, double *room, int64_t count);
/* Lets the reader that is free first be busy until then. */
void tfd_replay_busy(struct tfd_replay_readers *readers, double until_s);

#endif
