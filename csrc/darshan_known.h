/* What Darshan knows of the process's descriptors and streams: it learns of them by the calls that pass, and is
 * told of their end before the number can mean something else. */
#ifndef TFD_DARSHAN_KNOWN_H
#define TFD_DARSHAN_KNOWN_H

#include <stdbool.h>
#include <stdio.h>

bool tfd_known_prepare(void); /* false: no address space */

/* By an open of this session that it saw. */
bool tfd_knows(int fd);
bool tfd_knows_stream(FILE *stream);

void tfd_known_gain(int fd);
void tfd_known_gain_stream(FILE *stream);
void tfd_known_gain_stream_of(FILE *stream, int fd);
/* fileno told Darshan of the stream's descriptor. */
void tfd_known_gain_alias(int fd);

/* Darshan forgets a descriptor or stream that it knows, before it is closed. */
void tfd_known_drop(int fd);
void tfd_known_drop_stream(int fd);
/* Darshan forgets what the number meant, in a call on its way that gives the number a new meaning. */
void tfd_known_drop_stale(int fd);
/* It forgets what fileno once told it, unless that is the same file still. */
void tfd_known_drop_other_file(int fd);
/* Darshan still has an entry for it, which is not to be used any more. A stream's
 * descriptor is left like that when the stream is closed: to tell Darshan of a
 * close would change its file's counters. */
void tfd_known_distrust(int fd);
/* Before a session: Darshan forgets descriptors and streams of the one before, whose numbers may be others' now. */
void tfd_known_sweep(void);

#endif
