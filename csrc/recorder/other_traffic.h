/* Sums of calls that do not become events, by thread. */
#ifndef TFD_OTHER_TRAFFIC_H
#define TFD_OTHER_TRAFFIC_H

#include <stdint.h>

#include "recorder/descriptor_table.h"
#include "spool/spool.h"

struct tfd_slot;

/* Add a call on something other than a recorded file to the thread's sums. */
void tfd_add_other(struct tfd_thread *thread, tfd_target target, enum tfd_operation operation, int64_t bytes);
void tfd_count_other(struct tfd_slot *slot, tfd_target target, enum tfd_operation operation, int64_t bytes);
/* Add each field in one instruction, since a signal handler of the same thread may add to it at any time. */
void tfd_add_traffic(struct tfd_other_traffic *sum, const struct tfd_other_traffic *more);
void tfd_count_nested(struct tfd_slot *slot, int64_t bytes_read, int64_t bytes_written);

#endif
