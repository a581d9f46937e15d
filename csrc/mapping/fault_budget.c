#include "mapping/fault_budget.h"

#include <stdlib.h>

#define SAMPLE_NS 2000 /* what a sample costs the thread that has the fault */
#define SAMPLES 2      /* of a fault */
#define START_NS 2000000
#define SAVED_NS 5000000 /* that bursts may use, at most */
#define RESUME_NS 2000000
#define SHORTEST_NS 1000000
#define USUAL_PERCENT 1.0
#define ALL_PERCENT 100.0

static double percent = USUAL_PERCENT;
static int64_t left_ns;

void tfd_fault_budget_allow(void)
{
    const char *text = getenv(TFD_FAULT_COST_VARIABLE);
    char *end = NULL;
    double asked = text ? strtod(text, &end) : 0;
    percent = text && end != text && !*end && asked > 0 ? asked : USUAL_PERCENT;
}

void tfd_fault_budget_begin(void)
{
    left_ns = START_NS;
}

bool tfd_fault_budget_spend(int64_t passed_ns, int64_t cost_ns, bool is_on)
{
    left_ns += (int64_t)((double)passed_ns * percent / 100) - cost_ns;
    left_ns = left_ns < SAVED_NS ? left_ns : SAVED_NS;
    return percent >= ALL_PERCENT || (is_on ? left_ns >= 0 : left_ns > RESUME_NS);
}

int64_t tfd_fault_budget_lasts_ns(double faults_per_ns, int64_t most_ns)
{
    double spent_per_ns = faults_per_ns * SAMPLES * SAMPLE_NS;
    if (percent >= ALL_PERCENT || spent_per_ns * (double)most_ns <= (double)left_ns)
        return most_ns;
    int64_t lasts_ns = (int64_t)((double)left_ns / spent_per_ns);
    return lasts_ns > SHORTEST_NS ? lasts_ns : SHORTEST_NS;
}

int64_t tfd_fault_samples_cost_ns(uint64_t samples)
{
    return (int64_t)samples * SAMPLE_NS;
}
