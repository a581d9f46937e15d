/* The cost budget of watching page faults: a share of the time. Events are closed while they would cost more; opening
 * and closing them costs too. Only the watching thread calls these, except for tfd_fault_budget_allow(). */
#ifndef TFD_FAULT_BUDGET_H
#define TFD_FAULT_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

/* Environment variable: the share in per cent of the time; 100 or more means no limit. */
#define TFD_FAULT_COST_VARIABLE "TFDARSHAN_MAPPED_COST_PERCENT"

/* Read the share from the environment, 1 % if it is not set. Call this before watching begins. */
void tfd_fault_budget_allow(void);
/* Return true if there is no limit. */
bool tfd_fault_budget_is_all(void);
/* Begin a budget. `begun_ns` was spent to begin, `opened_ns` of it to open events. The budget borrows at the start,
 * then after 0.25 s without events, 0.5 s and so on, and pays back from half of what it earns. */
void tfd_fault_budget_begin(int64_t begun_ns, int64_t opened_ns);
/* Add the share of the time that passed, and subtract what watching cost; return true if events shall be open now. */
bool tfd_fault_budget_spend(int64_t passed_ns, int64_t cost_ns, bool is_on);
/* Subtract the cost of opening or closing events. */
void tfd_fault_budget_switched(int64_t cost_ns);
/* Return how long events may stay open at `cost_per_ns`, `most_ns` at most. */
int64_t tfd_fault_budget_lasts_ns(double cost_per_ns, int64_t most_ns);
/* Return the time until events may be opened again, `most_ns` at most. */
int64_t tfd_fault_budget_waits_ns(int64_t most_ns);

#endif
