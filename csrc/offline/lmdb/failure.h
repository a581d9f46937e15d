/* Errors of calls that failed. */
#ifndef TFD_LMDB_FAILURE_H
#define TFD_LMDB_FAILURE_H

#include "offline/lmdb/lmdb.h"

/* Fill the error and return -1. */
int tfd_lmdb_fail(struct tfd_lmdb_error *error, int kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for a system call, by errno. */
int tfd_lmdb_fail_system(struct tfd_lmdb_error *error, int number, const char *what);

#endif
