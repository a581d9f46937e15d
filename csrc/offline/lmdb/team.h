/* Threads that share the calls of one scatter and end with it, so that a fork finds none. */
#ifndef TFD_LMDB_TEAM_H
#define TFD_LMDB_TEAM_H

#include "offline/lmdb/read_call.h"

/* Make all calls by at most `threads` threads, the caller included; return 0 or -1. */
int tfd_lmdb_team_run(const struct tfd_lmdb_work *work, int threads, struct tfd_lmdb_error *error);

#endif
