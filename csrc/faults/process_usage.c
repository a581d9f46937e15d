#define _GNU_SOURCE
#include "faults/process_usage.h"

#include <sys/resource.h>

static int64_t cpu_of(const struct rusage *usage)
{
    return (usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * (int64_t)1000000000 +
           (usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) * (int64_t)1000;
}

struct tfd_process_usage tfd_process_usage_now(void)
{
    struct rusage all, own;
    getrusage(RUSAGE_THREAD, &own);
    getrusage(RUSAGE_SELF, &all);
    return (struct tfd_process_usage){
        .minor_faults = all.ru_minflt - own.ru_minflt,
        .major_faults = all.ru_majflt - own.ru_majflt,
        .switches = all.ru_nvcsw + all.ru_nivcsw - own.ru_nvcsw - own.ru_nivcsw,
        .cpu_ns = cpu_of(&all),
    };
}

struct tfd_process_usage tfd_process_usage_since(const struct tfd_process_usage *before,
                                                 const struct tfd_process_usage *now)
{
    return (struct tfd_process_usage){
        .minor_faults = now->minor_faults - before->minor_faults,
        .major_faults = now->major_faults - before->major_faults,
        .switches = now->switches - before->switches,
        .cpu_ns = now->cpu_ns - before->cpu_ns,
    };
}
