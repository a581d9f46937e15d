/* What the process has used so far, by getrusage(2). */
#ifndef TFD_PROCESS_USAGE_H
#define TFD_PROCESS_USAGE_H

#include <stdint.h>

struct tfd_process_usage {
    int64_t minor_faults, major_faults, switches; /* except the calling thread's */
    int64_t cpu_ns;                               /* the calling thread's included */
};

struct tfd_process_usage tfd_process_usage_now(void);
struct tfd_process_usage tfd_process_usage_since(const struct tfd_process_usage *before,
                                                 const struct tfd_process_usage *now);

#endif
