#define _GNU_SOURCE
#include "darshan/engine.h"

#include <stdbool.h>

#include "darshan/gate.h"
#include "darshan/guard.h"
#include "darshan/known.h"
#include "darshan/library.h"
#include "darshan/snapshot.h"
#include "recorder/session.h"
#include "tfdarshan.h"

static bool counting;
static int stop_status;

/* A foreign library sees our calls already, so its records are only read. */
int tfd_darshan_begin(uint32_t generation)
{
    if (!tfd_darshan_is_foreign())
        tfd_known_sweep();
    int status = tfd_darshan_snapshot(0);
    if (status)
        return status;
    if (!tfd_darshan_is_foreign()) {
        tfd_darshan_guard_install();
        tfd_gate_open(generation);
    }
    counting = true;
    return 0;
}

void tfd_darshan_end(int keep)
{
    if (!counting)
        return;
    counting = false;
    tfd_gate_close(); /* calls from here on are marked as unseen by Darshan */
    stop_status = keep ? tfd_darshan_snapshot(1) : 0;
    if (keep)
        tfd_await_owed_events();
}

void tfd_darshan_detach(void)
{
    if (tfd_darshan_attached) {
        tfd_darshan_guard_remove();
        tfd_gate_detach();
    }
}

int tfd_darshan_stop_status(void)
{
    return stop_status;
}

void tfd_darshan_reset_in_child(void)
{
    counting = false;
    tfd_darshan_guard_reset_in_child();
    tfd_darshan_library_reset_in_child();
}
