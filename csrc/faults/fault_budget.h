/* What watching page faults may cost: so much of the time. Events are taken away for as long as they would cost more;
 * to open and to close them costs, too. Of the watching thread alone, but for what is allowed. */
#ifndef TFD_FAULT_BUDGET_H
#define TFD_FAULT_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

/* Per cent of the time; 100 and more: whatever it costs. */
#define TFD_FAULT_COST_VARIABLE "TFDARSHAN_MAPPED_COST_PERCENT"

/* Before watching begins: takes the share from the environment, 1 % where that says nothing. */
void tfd_fault_budget_allow(void);
/* Whether all faults are to be seen, whatever that costs. */
bool tfd_fault_budget_is_all(void);
/* `begun_ns` was spent to begin, `opened_ns` of it to open events, and something more may be spent at once, and again
 * after a rest of a quarter of a second, another half, and so on: all is paid back from half of what is earned. */
void tfd_fault_budget_begin(int64_t begun_ns, int64_t opened_ns);
/* Adds the share of the time that passed, and takes off what watching cost in it. Says whether there are to be events
 * from now. */
bool tfd_fault_budget_spend(int64_t passed_ns, int64_t cost_ns, bool is_on);
/* Events were opened, or closed, at this cost, which is to be spent no more often than it pays. */
void tfd_fault_budget_switched(int64_t cost_ns);
/* How long events may stay at this cost for each nanosecond, at most `most_ns`. */
int64_t tfd_fault_budget_lasts_ns(double cost_per_ns, int64_t most_ns);
/* How long it takes until they may be opened again, at most `most_ns`. */
int64_t tfd_fault_budget_waits_ns(int64_t most_ns);

#endif
