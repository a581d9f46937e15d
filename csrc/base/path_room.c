#include "base/path_room.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* Buffers: as many as calls that can look at a path at one moment, nested signal handlers included. */
#define ROOMS 64

static char rooms[ROOMS][TFD_PATH_ROOM_BYTES];
static _Atomic bool taken[ROOMS];

char *tfd_path_room_take(void)
{
    for (;; sched_yield())
        for (size_t i = 0; i < ROOMS; i++)
            if (!atomic_load_explicit(&taken[i], memory_order_relaxed) && !atomic_exchange(&taken[i], true))
                return rooms[i];
}

void tfd_path_room_return(const char *room)
{
    atomic_store(&taken[(size_t)(room - rooms[0]) / TFD_PATH_ROOM_BYTES], false);
}

void tfd_path_room_reset_in_child(void)
{
    for (size_t i = 0; i < ROOMS; i++)
        atomic_store(&taken[i], false);
}
