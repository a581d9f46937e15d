/* Darshan's id of a file: a hash of its path. */
#ifndef TFD_RECORD_ID_H
#define TFD_RECORD_ID_H

#include <stddef.h>
#include <stdint.h>

uint64_t tfd_record_id(const char *path, size_t length);

#endif
