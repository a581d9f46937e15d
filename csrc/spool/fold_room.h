/* What of a spool is kept free for the counters, so that folding never fails. */
#ifndef TFD_FOLD_ROOM_H
#define TFD_FOLD_ROOM_H

#include "spool/spool.h"

/* Bytes per file without counters. */
#define TFD_FOLD_FILE_BYTES 512u

/* Return the bytes that folding the files seen so far may still take. Chunks must leave them free. */
uint64_t tfd_fold_reserve_bytes(const struct tfd_spool *spool);
/* Allocate blocks for the part of these bytes that folding needs in any case; return false if there is no room. */
bool tfd_fold_keep_usable(struct tfd_spool *spool);

#endif
