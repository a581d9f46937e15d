/* How sessions of TensorFlow's profiler are recorded: set by Python, used by TensorFlow's threads. */
#ifndef TFD_TF_SETTINGS_H
#define TFD_TF_SETTINGS_H

#include <stdbool.h>

#include "tfdarshan.h"

#define TFD_TF_MAX_EVENTS 200000

struct tfd_tf_settings {
    struct tfd_options options; /* spool_directory is the folder to make one in */
    uint64_t smallest_bytes, max_events;
};

/* The settings, which stay as they are until they are released; NULL: sessions are not recorded. */
const struct tfd_tf_settings *tfd_tf_settings_acquire(void);
void tfd_tf_settings_release(void);
/* The running recording is written as a session by Python. */
bool tfd_tf_session_is_written(void);
/* In a forked child, whose other threads are gone with what they held. */
void tfd_tf_settings_reset_in_child(void);

#endif
