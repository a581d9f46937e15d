/* What it costs the threads of a program that their page faults are events. */
#ifndef TFD_FAULT_COST_H
#define TFD_FAULT_COST_H

#include <stdint.h>

/* Measure, once in a process, what a sample costs the thread that has the fault, by faults of the calling thread
 * with and without events. The calling thread must have its own table of descriptors. */
void tfd_fault_cost_measure(void);
/* Return what `samples` cost the threads that have the faults. A fault has two samples. */
int64_t tfd_fault_samples_cost_ns(uint64_t samples);
/* Return what it costs that the kernel takes a thread's events off a processor and puts them on again, `switches`
 * times. */
int64_t tfd_fault_switches_cost_ns(uint64_t switches);

#endif
