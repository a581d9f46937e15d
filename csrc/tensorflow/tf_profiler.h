/* A session of TensorFlow's profiler: records I/O, or uses its part of a recording that runs already, and returns it as
 * planes. Everything here runs on TensorFlow's threads, without Python. */
#ifndef TFD_TF_PROFILER_H
#define TFD_TF_PROFILER_H

#include <stddef.h>
#include <stdint.h>

void tfd_tf_session_begin(void);
void tfd_tf_session_end(void);
/* Return the size of the planes, and then, once, their bytes. */
size_t tfd_tf_session_size(void);
void tfd_tf_session_take(uint8_t *buffer, size_t size);

#endif
