/* What the library for late joins and the core know of each other: one function of each, by name. */
#ifndef TFD_HANDOVER_H
#define TFD_HANDOVER_H

#include <stdatomic.h>
#include <stdint.h>

#include "job/missed_opens.h"

/* A function of the library for late joins: restore the slots; return 0 if none were patched. */
#define TFD_LEAVE_WAITING "tfdarshan_leave_waiting"
typedef int tfd_leave_waiting_function(void);

/* State of the library for late joins, which is never unloaded, that the core goes on with. */
struct tfd_waited {
    struct tfd_missed_opens *missed;
    struct tfd_own_io *own;      /* bytes that it read of /proc */
    void *(*found)(void **slot); /* tfd_late_attach_found */
};

/* A function of the core: wait for sessions in place of that library, and join the one that records now. `interpreter`:
 * see tfd_job_wait_for_sessions(). */
#define TFD_TAKE_OVER_WAITING "tfdarshan_take_over_waiting"
typedef void tfd_take_over_waiting_function(const void *interpreter, tfd_leave_waiting_function *leave,
                                            struct tfd_waited *waited);

#endif
