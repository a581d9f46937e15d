/* The I/O of a recording as planes of TensorFlow's profiler: for its trace viewer, and, if the session is not written
 * beside the trace, for rebuilding the session. */
#ifndef TFD_IO_PLANE_H
#define TFD_IO_PLANE_H

#include <stdint.h>

#include "tensorflow/plane_request.h"
#include "tensorflow/xspace_writer.h"
#include "tfdarshan.h"

struct tfd_plane_counts {
    uint64_t events, left_out;
};

/* Append an XSpace; return 0 or -ENOMEM. With the session the reader must have counters. */
int tfd_io_plane(struct tfd_reader *reader, const struct tfd_plane_request *request, struct tfd_bytes *out,
                 struct tfd_plane_counts *counts);
/* Append an XSpace with only a sentence. */
void tfd_note_plane(struct tfd_bytes *out, int64_t realtime_ns, const char *mark, const char *sentence);

#endif
