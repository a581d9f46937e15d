/* What watching page faults may cost: so much of the time of the thread that has most of them. Events are off for as
 * long as they would cost more. Of the watching thread alone, but for what is allowed. */
#ifndef TFD_FAULT_BUDGET_H
#define TFD_FAULT_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

/* Per cent of the time; 100 and more: whatever it costs. */
#define TFD_FAULT_COST_VARIABLE "TFDARSHAN_MAPPED_COST_PERCENT"

/* Before watching begins: takes the share from the environment, 1 % where that says nothing. */
void tfd_fault_budget_allow(void);
void tfd_fault_budget_begin(void);
/* Adds the share of the time that passed, and takes off what watching cost a thread in it, at most. Says whether events
 * are to be on from now. */
bool tfd_fault_budget_spend(int64_t passed_ns, int64_t cost_ns, bool is_on);
/* How long events may stay on at this rate of faults, were they one thread's, at most `most_ns`. */
int64_t tfd_fault_budget_lasts_ns(double faults_per_ns, int64_t most_ns);
/* What so many samples of faults cost the threads that have them. */
int64_t tfd_fault_samples_cost_ns(uint64_t samples);

#endif
