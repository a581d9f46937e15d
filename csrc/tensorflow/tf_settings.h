/* Settings of the recordings for sessions of TensorFlow's profiler. Python sets them, and TensorFlow's threads use
 * them. */
#ifndef TFD_TF_SETTINGS_H
#define TFD_TF_SETTINGS_H

#include <stdbool.h>

#include "tfdarshan.h"

#define TFD_TF_MAX_EVENTS 200000

struct tfd_tf_settings {
    struct tfd_options options; /* a folder for spools is made in spool_directory */
    uint64_t smallest_bytes, max_events;
};

/* Return the settings, which do not change until they are released; NULL if sessions are not recorded. */
const struct tfd_tf_settings *tfd_tf_settings_acquire(void);
void tfd_tf_settings_release(void);
/* Return true if Python writes the running recording as a session. */
bool tfd_tf_session_is_written(void);
/* Call this in a forked child, where the other threads that held the settings do not exist. */
void tfd_tf_settings_reset_in_child(void);

#endif
