/* What watching costs stays within its share, at any rate of faults, and where faults are few all of them are seen. Time
 * is made up: a busy machine changes nothing. */
#define _GNU_SOURCE
#include "check.h"
#include "mapping/fault_budget.h"

#define TICK_NS 20000000
#define SECOND_NS 1000000000.0
#define FOR_NS (100 * (int64_t)1000000000)
#define FIRST_NS 2000000.0 /* that may be spent before any was earned */
#define SAMPLES_OF_FAULT 2

struct spent {
    double cost_ns, on_ns, all_ns, longest_ns; /* longest: of one time with events on, its cost */
};

/* As the watching thread does: events are on until they cost too much, and off until that is made up for. */
static struct spent watch(double faults_per_s, const char *percent)
{
    struct spent spent = {0};
    bool on = true;
    CHECK(percent ? !setenv(TFD_FAULT_COST_VARIABLE, percent, 1) : !unsetenv(TFD_FAULT_COST_VARIABLE));
    tfd_fault_budget_allow();
    tfd_fault_budget_begin();
    while (spent.all_ns < (double)FOR_NS) {
        int64_t passed_ns = on ? tfd_fault_budget_lasts_ns(faults_per_s / SECOND_NS, TICK_NS) : TICK_NS;
        double faults = on ? faults_per_s / SECOND_NS * (double)passed_ns : 0;
        int64_t cost_ns = tfd_fault_samples_cost_ns((uint64_t)(faults * SAMPLES_OF_FAULT));
        spent.cost_ns += (double)cost_ns;
        spent.longest_ns = (double)cost_ns > spent.longest_ns ? (double)cost_ns : spent.longest_ns;
        spent.on_ns += on ? (double)passed_ns : 0;
        spent.all_ns += (double)passed_ns;
        on = tfd_fault_budget_spend(passed_ns, cost_ns, on);
    }
    return spent;
}

static void check_share(double faults_per_s, const char *percent, double share)
{
    struct spent spent = watch(faults_per_s, percent);
    CHECK(spent.cost_ns <= share * spent.all_ns + FIRST_NS + spent.longest_ns);
    CHECK(spent.cost_ns >= share * spent.all_ns / 2); /* and is made use of */
    CHECK(spent.on_ns < spent.all_ns);
}

static void check_all_seen(double faults_per_s, const char *percent)
{
    struct spent spent = watch(faults_per_s, percent);
    CHECK(spent.on_ns >= spent.all_ns);
}

int main(void)
{
    check_share(1e6, NULL, 0.01);
    check_share(1e5, NULL, 0.01);
    check_share(1e7, NULL, 0.01);
    check_share(1e6, "5", 0.05);
    check_share(1e6, "nonsense", 0.01);
    check_share(1e6, "-1", 0.01);
    check_all_seen(2000, NULL);
    check_all_seen(0, NULL);
    check_all_seen(1e6, "100");
    return 0;
}
