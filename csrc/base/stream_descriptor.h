/* A stream's descriptor, the same as fileno_unlocked(3) returns, but without a call, which would be recorded and may
 * set errno. */
#ifndef TFD_STREAM_DESCRIPTOR_H
#define TFD_STREAM_DESCRIPTOR_H

#include <stdio.h>

/* _IO_IS_FILEBUF: glibc's streams have had this flag at this place as long as their layout is public. */
#define TFD_STREAM_IS_OF_A_FILE 0x2000

/* Return the descriptor; negative for NULL and for streams without a file (fmemopen). */
static inline int tfd_descriptor_of(const FILE *stream)
{
    return stream && stream->_flags & TFD_STREAM_IS_OF_A_FILE ? stream->_fileno : -1;
}

#endif
