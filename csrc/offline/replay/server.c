#include "offline/replay/server.h"

#include <stdbool.h>

void tfd_replay_open(struct tfd_replay_server *server, struct tfd_replay_rest *rests, size_t count)
{
    *server = (struct tfd_replay_server){.rests = rests, .count = count};
    for (size_t i = 0; i < count; i++)
        rests[i] = (struct tfd_replay_rest){0};
}

/* Remember a rest in place of the one that ended first, since no task comes that late. */
static void remember(struct tfd_replay_server *server, struct tfd_replay_rest rest)
{
    struct tfd_replay_rest *first = server->rests;
    for (size_t i = 1; i < server->count; i++)
        if (server->rests[i].end_s < first->end_s)
            first = &server->rests[i];
    if (rest.end_s > rest.start_s && rest.end_s > first->end_s)
        *first = rest;
}

/* Serve a task in the rest where it ends first, and keep the parts of the rest before and after it; return false if it
 * fits into none. */
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
    if (!found)
        return false;
    struct tfd_replay_rest before = {found->start_s, tfd_replay_later(at_s, found->start_s)};
    found->start_s = *end_s;
    remember(server, before);
    return true;
}

double tfd_replay_serve(struct tfd_replay_server *server, double at_s, double need_s)
{
    double end_s = at_s;
    if (!(need_s > 0) || (at_s < server->free_s && served_in_rest(server, at_s, need_s, &end_s)))
        return end_s;
    if (at_s > server->free_s)
        remember(server, (struct tfd_replay_rest){server->free_s, at_s});
    server->free_s = tfd_replay_later(at_s, server->free_s) + need_s;
    return server->free_s;
}
