/* What the library that waits for a session and the core know of each other: a name each. */
#ifndef TFD_HANDOVER_H
#define TFD_HANDOVER_H

#include <stdatomic.h>
#include <stdint.h>

#include "job/missed_opens.h"

/* In that library: puts back what it patched. 0: it patched nothing. */
#define TFD_LEAVE_WAITING "tfdarshan_leave_waiting"
typedef int tfd_leave_waiting_function(void);

/* What that library goes on with while the core begins, and which is never unloaded. */
struct tfd_waited {
    struct tfd_missed_opens *missed;
    struct tfd_own_io *own;      /* what it read of /proc */
    void *(*found)(void **slot); /* tfd_late_attach_found */
};

/* In the core: waits for sessions in its place, and joins the one that records now. `interpreter` is as in
 * tfd_job_wait_for_sessions. */
#define TFD_TAKE_OVER_WAITING "tfdarshan_take_over_waiting"
typedef void tfd_take_over_waiting_function(const void *interpreter, tfd_leave_waiting_function *leave,
                                            struct tfd_waited *waited);

#endif
