#include "mapping/fault_budget.h"

#include <stdlib.h>

#define START_NS 2000000
#define SAVED_NS 5000000  /* that bursts may use, at least */
#define RESUME_NS 2000000 /* that is to be there for the faults themselves */
#define SHORTEST_NS 1000000
#define SWITCHES 4 /* so many times what opening and closing takes is there before they are opened again */
#define USUAL_PERCENT 1.0
#define ALL_PERCENT 100.0

static double percent = USUAL_PERCENT;
static int64_t left_ns, owed_ns;
static int64_t switched_ns; /* what it takes to open them, or to close them: the mean of the last times */

void tfd_fault_budget_allow(void)
{
    const char *text = getenv(TFD_FAULT_COST_VARIABLE);
    char *end = NULL;
    double asked = text ? strtod(text, &end) : 0;
    percent = text && end != text && !*end && asked > 0 ? asked : USUAL_PERCENT;
}

void tfd_fault_budget_begin(int64_t begun_ns, int64_t opened_ns)
{
    left_ns = START_NS;
    owed_ns = START_NS + begun_ns;
    switched_ns = opened_ns;
}

static int64_t resume_ns(void)
{
    return RESUME_NS + SWITCHES * switched_ns;
}

static int64_t earned_ns(int64_t passed_ns)
{
    int64_t earned = (int64_t)((double)passed_ns * percent / 100);
    int64_t paid = owed_ns < earned / 2 ? owed_ns : earned / 2;
    owed_ns -= paid;
    return earned - paid;
}

bool tfd_fault_budget_spend(int64_t passed_ns, int64_t cost_ns, bool is_on)
{
    int64_t most_ns = resume_ns() + SAVED_NS;
    left_ns += earned_ns(passed_ns) - cost_ns;
    left_ns = left_ns < most_ns ? left_ns : most_ns;
    return percent >= ALL_PERCENT || (is_on ? left_ns > switched_ns : left_ns > resume_ns());
}

/* What was dear once, as on a busy machine, need not be so for ever. */
void tfd_fault_budget_switched(int64_t cost_ns)
{
    left_ns -= cost_ns;
    switched_ns = (switched_ns + cost_ns) / 2;
}

int64_t tfd_fault_budget_lasts_ns(double cost_per_ns, int64_t most_ns)
{
    double to_spend_ns = (double)(left_ns - switched_ns);
    if (percent >= ALL_PERCENT || cost_per_ns * (double)most_ns <= to_spend_ns)
        return most_ns;
    int64_t lasts_ns = (int64_t)(to_spend_ns / cost_per_ns);
    return lasts_ns > SHORTEST_NS ? lasts_ns : SHORTEST_NS;
}

int64_t tfd_fault_budget_waits_ns(int64_t most_ns)
{
    double missing_ns = (double)(resume_ns() - left_ns) * 100 / percent;
    return missing_ns < (double)SHORTEST_NS ? SHORTEST_NS
           : missing_ns < (double)most_ns   ? (int64_t)missing_ns
                                            : most_ns;
}
