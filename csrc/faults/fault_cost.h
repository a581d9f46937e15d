/* What it costs the threads of a program that their page faults are events. */
#ifndef TFD_FAULT_COST_H
#define TFD_FAULT_COST_H

#include <stdint.h>

/* Measures, once in a process, what a sample costs the thread that has the fault: by faults of the calling thread's own,
 * with events and without. For a thread with its own table of descriptors. */
void tfd_fault_cost_measure(void);
/* What so many samples of faults cost the threads that have them; a fault is two. */
int64_t tfd_fault_samples_cost_ns(uint64_t samples);
/* What it costs that the kernel takes a thread's events off a processor and puts them on again, so many times. */
int64_t tfd_fault_switches_cost_ns(uint64_t switches);

#endif
