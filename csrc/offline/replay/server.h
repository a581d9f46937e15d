/* A server of a queueing network. */
#ifndef TFD_REPLAY_SERVER_H
#define TFD_REPLAY_SERVER_H

#include <stddef.h>

struct tfd_replay_rest {
    double start_s, end_s;
};

/* Serves one task at a time, in the order of the calls. A later call may have an earlier task: a request that took long
 * at the station before does not delay the next ones. So the server remembers its last rests, and serves a task in the
 * first rest that it fits into. */
struct tfd_replay_server {
    double free_s;
    struct tfd_replay_rest *rests;
    size_t count;
};

/* Begin with a server that is free from 0 s on. `rests`: memory for its rests. */
void tfd_replay_open(struct tfd_replay_server *server, struct tfd_replay_rest *rests, size_t count);
/* Return when a task that comes at `at_s` has been served; `at_s` if it needs no time. */
double tfd_replay_serve(struct tfd_replay_server *server, double at_s, double need_s);

static inline double tfd_replay_later(double one_s, double other_s)
{
    return one_s > other_s ? one_s : other_s;
}

#endif
