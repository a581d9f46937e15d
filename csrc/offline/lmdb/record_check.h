/* Checks before a record is read. */
#ifndef TFD_LMDB_RECORD_CHECK_H
#define TFD_LMDB_RECORD_CHECK_H

#include "offline/lmdb/environment.h"

/* Check that there is a record of this number. */
int tfd_lmdb_check_number(const struct tfd_lmdb *file, uint64_t number, struct tfd_lmdb_error *error);

/* Check that a value with its own pages still has them, by the 16 bytes before it. */
int tfd_lmdb_check_head(const struct tfd_lmdb *file, const struct tfd_lmdb_record *record,
                        const uint8_t *head, struct tfd_lmdb_error *error);

#endif
