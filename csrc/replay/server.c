#include "replay/server.h"

#include <stdbool.h>

void tfd_replay_open(struct tfd_replay_server *server, struct tfd_replay_rest *rests, size_t count)
{
    *server = (struct tfd_replay_server){.rests = rests, .count = count};
    for (size_t i = 0; i < count; i++)
        rests[i] = (struct tfd_replay_rest){0};
}

static double length_of(const struct tfd_replay_rest *rest)
{
    return rest->end_s - rest->start_s;
}

/* Ends a task in the rest where it ends first, which is shorter then. False if it fits into none. */
static bool served_in_rest(struct tfd_replay_server *server, double at_s, double need_s, double *end_s)
{
    struct tfd_replay_rest *found = NULL;
    for (size_t i = 0; i < server->count; i++) {
        struct tfd_replay_rest *rest = &server->rests[i];
        double ends_s = tfd_replay_later(at_s, rest->start_s) + need_s;
        if (ends_s <= rest->end_s && (!found || ends_s < *end_s)) {
            found = rest;
            *end_s = ends_s;
        }
    }
    if (found)
        found->start_s = *end_s;
    return found != NULL;
}

/* Keeps a rest that ends now, in place of the shortest one. */
static void remember(struct tfd_replay_server *server, double now_s)
{
    struct tfd_replay_rest rest = {server->free_s, now_s}, *shortest = server->rests;
    for (size_t i = 1; i < server->count; i++)
        if (length_of(&server->rests[i]) < length_of(shortest))
            shortest = &server->rests[i];
    if (length_of(&rest) > length_of(shortest))
        *shortest = rest;
}

double tfd_replay_serve(struct tfd_replay_server *server, double at_s, double need_s)
{
    double end_s = at_s;
    if (!(need_s > 0) || (at_s < server->free_s && served_in_rest(server, at_s, need_s, &end_s)))
        return end_s;
    if (at_s > server->free_s)
        remember(server, at_s);
    server->free_s = tfd_replay_later(at_s, server->free_s) + need_s;
    return server->free_s;
}
