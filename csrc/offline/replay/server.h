/* A server of a queueing network. */
#ifndef TFD_REPLAY_SERVER_H
#define TFD_REPLAY_SERVER_H

#include <stddef.h>

struct tfd_replay_rest {
    double start_s, end_s;
};

/* Serves a task at a time, in the order in which tasks are told to it. A task that is told later may come earlier: a
 * request that took long at the station before does not hold up those behind it. So the server remembers its last
 * rests, and serves a task in the first one that it fits into. */
struct tfd_replay_server {
    double free_s;
    struct tfd_replay_rest *rests;
    size_t count;
};

/* Lets a server be free from 0 on, and remember its rests in such room. */
void tfd_replay_open(struct tfd_replay_server *server, struct tfd_replay_rest *rests, size_t count);
/* When a task has been served that comes at `at_s`; at once if it needs nothing. */
double tfd_replay_serve(struct tfd_replay_server *server, double at_s, double need_s);

static inline double tfd_replay_later(double one_s, double other_s)
{
    return one_s > other_s ? one_s : other_s;
}

#endif
