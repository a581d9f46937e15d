/* Copies of Darshan's records at the start and at the end of a session. */
#ifndef TFD_DARSHAN_SNAPSHOT_H
#define TFD_DARSHAN_SNAPSHOT_H

int tfd_darshan_snapshot(int at_stop);

#endif
