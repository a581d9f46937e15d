#include "offline/replay/readers.h"

void tfd_replay_gather(struct tfd_replay_readers *readers, double *room, int64_t count)
{
    *readers = (struct tfd_replay_readers){room, count > 1 ? (size_t)count : 1};
    for (size_t i = 0; i < readers->count; i++)
        room[i] = 0;
}

void tfd_replay_busy(struct tfd_replay_readers *readers, double until_s)
{
    double *free_s = readers->free_s;
    size_t at = 0;
    for (size_t child = 1; child < readers->count; child = 2 * at + 1) {
        if (child + 1 < readers->count && free_s[child + 1] < free_s[child])
            child++;
        if (free_s[child] >= until_s)
            break;
        free_s[at] = free_s[child];
        at = child;
    }
    free_s[at] = until_s;
}
