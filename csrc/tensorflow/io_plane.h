/* The I/O of a recording as planes of TensorFlow's profiler: what its trace viewer draws, and where the
 * session is not written beside it, also what it can be rebuilt from. */
#ifndef TFD_IO_PLANE_H
#define TFD_IO_PLANE_H

#include <stdint.h>

#include "tensorflow/plane_request.h"
#include "tensorflow/xspace_writer.h"
#include "tfdarshan.h"

struct tfd_plane_counts {
    uint64_t events, left_out;
};

/* Appends an XSpace; with the session, of a reader that has counters. 0, or -ENOMEM. */
int tfd_io_plane(struct tfd_reader *reader, const struct tfd_plane_request *request, struct tfd_bytes *out,
                 struct tfd_plane_counts *counts);
/* Appends an XSpace with nothing but a sentence. */
void tfd_note_plane(struct tfd_bytes *out, int64_t realtime_ns, const char *mark, const char *sentence);

#endif
