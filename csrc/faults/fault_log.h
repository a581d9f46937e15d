/* Single page faults of mapped files, as many as there is room for. A file's totals count all of them. */
#ifndef TFD_FAULT_LOG_H
#define TFD_FAULT_LOG_H

#include "spool/mapped_file.h"
#include "spool/spool.h"

/* Keep a fault, or count it as left out. One caller at a time. Half of the room is for faults that waited. */
void tfd_fault_log_add(struct tfd_spool *spool, struct tfd_mapped_files *totals,
                       const struct tfd_kept_fault *fault);

#endif
