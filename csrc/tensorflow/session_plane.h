/* What a session can be rebuilt from where only TensorFlow's trace is at hand, as stats of a plane that no viewer
 * draws. Integers of the files table are protobuf varints, the rest the structures of tfdarshan.h as they are;
 * "layout" says which, and a reader that has others refuses. */
#ifndef TFD_SESSION_PLANE_H
#define TFD_SESSION_PLANE_H

#include "tensorflow/plane_request.h"
#include "tensorflow/xspace_writer.h"
#include "tfdarshan.h"

/* Appends the fields of the plane. 0, or -ENOMEM. */
int tfd_session_plane(struct tfd_reader *reader, const struct tfd_plane_request *request,
                      struct tfd_bytes *out);

#endif
