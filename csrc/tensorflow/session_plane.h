/* The data from which a session can be rebuilt from TensorFlow's trace alone, as stats of a plane that no viewer shows.
 * Integers of the files table are protobuf varints, the rest are structures of tfdarshan.h. "layout" names their
 * layout, and a reader with another layout refuses them. */
#ifndef TFD_SESSION_PLANE_H
#define TFD_SESSION_PLANE_H

#include "tensorflow/plane_request.h"
#include "tensorflow/xspace_writer.h"
#include "tfdarshan.h"

/* Append the fields of the plane; return 0 or -ENOMEM. */
int tfd_session_plane(struct tfd_reader *reader, const struct tfd_plane_request *request,
                      struct tfd_bytes *out);

#endif
