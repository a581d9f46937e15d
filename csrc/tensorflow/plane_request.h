/* The part of a recording that planes are made of. */
#ifndef TFD_PLANE_REQUEST_H
#define TFD_PLANE_REQUEST_H

#include <stdint.h>

struct tfd_plane_request {
    int64_t start_ns, end_ns; /* events that began in this part of the recording */
    int64_t realtime_ns;      /* of start_ns */
    uint64_t max_events;
    const char *mark; /* identifies the session of the planes */
    int with_session; /* add the data from which the session can be rebuilt */
};

#endif
