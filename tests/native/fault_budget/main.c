/* The cost of watching page faults stays within its share at any rate of faults, with the cost of beginning, opening
 * and closing events. If faults are few, all are seen. Time is simulated, so a busy machine changes nothing. */
#define _GNU_SOURCE
#include "check.h"
#include "faults/fault_budget.h"

#define TICK_NS 20000000
#define LONGEST_WAIT_NS 250000000
#define FOR_NS (100 * (int64_t)1000000000)
#define SHORT_NS 500000000
#define BEGIN_NS 4000000 /* that the first faults may cost */
#define FAULT_NS 1000.0  /* what the events of a fault cost */

struct spent {
    double cost_ns, on_ns, all_ns, longest_ns; /* longest: of one time with events, its cost */
    double switches;
};

static void pay(struct spent *spent, double cost_ns, int64_t passed_ns, bool on)
{
    spent->cost_ns += cost_ns;
    spent->longest_ns = cost_ns > spent->longest_ns ? cost_ns : spent->longest_ns;
    spent->on_ns += on ? (double)passed_ns : 0;
    spent->all_ns += (double)passed_ns;
}

/* Watch as the watching thread does: events are open until they cost too much, and closed until that is earned back. */
static struct spent watch(double faults_per_s, int64_t switch_ns, const char *percent, int64_t for_ns)
{
    struct spent spent = {.cost_ns = (double)switch_ns};
    double cost_per_ns = faults_per_s / 1e9 * FAULT_NS;
    bool on = true;
    CHECK(percent ? !setenv(TFD_FAULT_COST_VARIABLE, percent, 1) : !unsetenv(TFD_FAULT_COST_VARIABLE));
    tfd_fault_budget_allow();
    tfd_fault_budget_begin(switch_ns, switch_ns);
    while (spent.all_ns < (double)for_ns) {
        int64_t passed_ns =
            on ? tfd_fault_budget_lasts_ns(cost_per_ns, TICK_NS) : tfd_fault_budget_waits_ns(LONGEST_WAIT_NS);
        double cost_ns = on ? cost_per_ns * (double)passed_ns : 0;
        pay(&spent, cost_ns, passed_ns, on);
        bool wanted = tfd_fault_budget_spend(passed_ns, (int64_t)cost_ns, on);
        if (wanted == on)
            continue;
        on = wanted;
        tfd_fault_budget_switched(switch_ns);
        spent.cost_ns += (double)switch_ns;
        spent.switches++;
    }
    return spent;
}

static void check_share(double faults_per_s, int64_t switch_ns, const char *percent, double share)
{
    struct spent spent = watch(faults_per_s, switch_ns, percent, FOR_NS);
    CHECK(spent.cost_ns <= share * spent.all_ns + spent.longest_ns + 2 * (double)switch_ns);
    CHECK(spent.cost_ns >= share * spent.all_ns / 2);                 /* and is made use of, */
    CHECK(spent.switches * (double)switch_ns <= 0.7 * spent.cost_ns); /* not for opening and closing alone */
    CHECK(spent.on_ns > 0 && spent.on_ns < spent.all_ns);
}

static void check_all_seen(double faults_per_s, int64_t switch_ns, const char *percent)
{
    struct spent spent = watch(faults_per_s, switch_ns, percent, FOR_NS);
    CHECK(spent.on_ns >= spent.all_ns && !spent.switches);
}

/* However dear events are, a short session has seen a part of its faults, at a cost that is bounded. */
static void check_short(double faults_per_s, int64_t switch_ns)
{
    struct spent spent = watch(faults_per_s, switch_ns, NULL, SHORT_NS);
    CHECK(spent.on_ns * faults_per_s / 1e9 >= 1000);
    CHECK(spent.cost_ns <= 2 * BEGIN_NS + 4 * (double)switch_ns);
}

/* Who has to pay back what was borrowed looks again, more and more rarely. */
static void check_looks_again(void)
{
    struct spent spent = watch(1e7, 5000000, NULL, 4 * (int64_t)1000000000);
    CHECK(spent.switches >= 6);
}

int main(void)
{
    check_share(1e6, 0, NULL, 0.01);
    check_share(1e6, 1000000, NULL, 0.01);
    check_share(1e6, 10000000, NULL, 0.01);
    check_share(1e5, 1000000, NULL, 0.01);
    check_share(1e7, 1000000, NULL, 0.01);
    check_share(1e6, 1000000, "5", 0.05);
    check_share(1e6, 1000000, "nonsense", 0.01);
    check_share(1e6, 1000000, "-1", 0.01);
    check_all_seen(2000, 1000000, NULL);
    check_all_seen(0, 1000000, NULL);
    check_all_seen(1e6, 1000000, "100");
    check_short(1e6, 1000000);
    check_short(1e6, 10000000);
    check_short(1e6, 200000000);
    check_short(1e5, 10000000);
    check_looks_again();
    return 0;
}
