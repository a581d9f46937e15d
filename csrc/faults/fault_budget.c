#include "faults/fault_budget.h"

#include <stdlib.h>

#define START_NS 4000000  /* budget of a session's first faults, so that a short session sees some */
#define SAVED_NS 5000000  /* budget that is saved for bursts, at least */
#define RESUME_NS 2000000 /* budget for faults that there must be to open events again */
#define SHORTEST_NS 1000000
#define SWITCHES 4 /* budget for opening events that there must be to open them again, in openings */
#define MOST_SWITCH_NS 20000000 /* opening events takes this at most; more is a wrong measurement */
#define FIRST_REST_NS 250000000 /* longest time without events; each later one may be twice as long */
#define REST_SWITCHES 50        /* shortest time without events that borrows, in openings */
#define USUAL_PERCENT 1.0
#define ALL_PERCENT 100.0

static double percent = USUAL_PERCENT;
static int64_t left_ns, owed_ns;
static int64_t switched_ns; /* cost of opening or closing events */
static int64_t rested_ns, longest_rest_ns;

void tfd_fault_budget_allow(void)
{
    const char *text = getenv(TFD_FAULT_COST_VARIABLE);
    char *end = NULL;
    double asked = text ? strtod(text, &end) : 0;
    percent = text && end != text && !*end && asked > 0 ? asked : USUAL_PERCENT;
}

bool tfd_fault_budget_is_all(void)
{
    return percent >= ALL_PERCENT;
}

static int64_t bounded(int64_t cost_ns)
{
    return cost_ns < 0 ? 0 : cost_ns > MOST_SWITCH_NS ? MOST_SWITCH_NS : cost_ns;
}

/* The cost of opening events is owed, not taken from the budget, so that it does not close them. */
void tfd_fault_budget_begin(int64_t begun_ns, int64_t opened_ns)
{
    left_ns = START_NS;
    owed_ns = START_NS + begun_ns;
    switched_ns = bounded(opened_ns);
    rested_ns = 0;
    longest_rest_ns = FIRST_REST_NS;
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

static int64_t rest_ns(void)
{
    int64_t least_ns = REST_SWITCHES * switched_ns;
    return longest_rest_ns > least_ns ? longest_rest_ns : least_ns;
}

/* Borrow from later, so that every session sees some of its faults, whatever they cost. */
static void borrow(void)
{
    int64_t needed_ns = RESUME_NS + switched_ns;
    if (left_ns < needed_ns) {
        owed_ns += needed_ns - left_ns;
        left_ns = needed_ns;
    }
    longest_rest_ns *= 2;
}

static bool may_resume(int64_t passed_ns)
{
    rested_ns += passed_ns;
    if (left_ns > resume_ns())
        return true;
    if (rested_ns < rest_ns())
        return false;
    borrow();
    return true;
}

bool tfd_fault_budget_spend(int64_t passed_ns, int64_t cost_ns, bool is_on)
{
    int64_t most_ns = resume_ns() + SAVED_NS;
    most_ns = most_ns > START_NS ? most_ns : START_NS;
    left_ns += earned_ns(passed_ns) - cost_ns;
    left_ns = left_ns < most_ns ? left_ns : most_ns;
    return tfd_fault_budget_is_all() || (is_on ? left_ns > 0 : may_resume(passed_ns));
}

/* A switch that was slow once, such as on a busy machine, counts less with each later one: this keeps the mean of the
 * last costs, or the last cost if that is less. */
void tfd_fault_budget_switched(int64_t cost_ns)
{
    int64_t taken_ns = bounded(cost_ns);
    left_ns -= taken_ns;
    switched_ns = taken_ns < switched_ns ? taken_ns : (switched_ns + taken_ns) / 2;
    rested_ns = 0;
}

int64_t tfd_fault_budget_lasts_ns(double cost_per_ns, int64_t most_ns)
{
    if (tfd_fault_budget_is_all() || cost_per_ns * (double)most_ns <= (double)left_ns)
        return most_ns;
    int64_t lasts_ns = (int64_t)((double)left_ns / cost_per_ns);
    return lasts_ns > SHORTEST_NS ? lasts_ns : SHORTEST_NS;
}

int64_t tfd_fault_budget_waits_ns(int64_t most_ns)
{
    double missing_ns = (double)(resume_ns() - left_ns) * 100 / percent;
    double rest_left_ns = (double)(rest_ns() - rested_ns);
    double waits_ns = missing_ns < rest_left_ns ? missing_ns : rest_left_ns;
    return waits_ns < (double)SHORTEST_NS ? SHORTEST_NS
           : waits_ns < (double)most_ns   ? (int64_t)waits_ns
                                          : most_ns;
}
