/* What the gate (darshan/gate.h) tells the recorder of Darshan; constant if no libdarshan counts. */
#define _GNU_SOURCE
#include "recorder/darshan_passage.h"

__thread uint64_t tfd_darshan_recorded __attribute__((tls_model("initial-exec")));
uint32_t tfd_darshan_attached;
uint64_t tfd_darshan_copied = UINT64_MAX;
