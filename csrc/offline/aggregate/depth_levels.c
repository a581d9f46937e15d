#include "offline/aggregate/aggregate.h"

#include <stdbool.h>

/* Running calls are a binary heap: no call ends before its parent at half its index. */
static void begin_call(struct tfd_depths *sums, int64_t end_ns, double rate)
{
    size_t at = sums->running++;
    for (; at && sums->end_ns[(at - 1) / 2] > end_ns; at = (at - 1) / 2) {
        sums->end_ns[at] = sums->end_ns[(at - 1) / 2];
        sums->rate[at] = sums->rate[(at - 1) / 2];
    }
    sums->end_ns[at] = end_ns;
    sums->rate[at] = rate;
}

static void end_first(struct tfd_depths *sums)
{
    size_t last = --sums->running, at = 0;
    int64_t end_ns = sums->end_ns[last];
    for (size_t child = 1; child < last; child = 2 * at + 1) {
        if (child + 1 < last && sums->end_ns[child + 1] < sums->end_ns[child])
            child++;
        if (sums->end_ns[child] >= end_ns)
            break;
        sums->end_ns[at] = sums->end_ns[child];
        sums->rate[at] = sums->rate[child];
        at = child;
    }
    sums->end_ns[at] = end_ns;
    sums->rate[at] = sums->rate[last];
}

static void go_to(struct tfd_depths *sums, int64_t at_ns)
{
    size_t depth = sums->running < TFD_DEEPEST ? sums->running : TFD_DEEPEST - 1;
    double lasted = (double)(at_ns - sums->now_ns);
    sums->lasted_ns[depth] += lasted;
    sums->bytes[depth] += sums->moving > 0 ? lasted * sums->moving : 0;
    sums->now_ns = at_ns;
}

static void end_until(struct tfd_depths *sums, int64_t at_ns)
{
    while (sums->running && sums->end_ns[0] <= at_ns) {
        go_to(sums, sums->end_ns[0]);
        sums->moving -= sums->rate[0];
        end_first(sums);
        /* Without running calls the rate is 0, whatever rounding has left. */
        if (!sums->running)
            sums->moving = 0;
    }
}

void tfd_add_depths(struct tfd_depths *sums, const struct tfd_input_calls *calls)
{
    for (size_t i = 0; i < calls->count; i++) {
        int64_t start = calls->start_ns[i], end = calls->end_ns[i], lasted = end - start;
        double rate =
            calls->kind[i] == TFD_READS ? (double)calls->length[i] / (double)(lasted > 1 ? lasted : 1) : 0;
        end_until(sums, start);
        go_to(sums, start);
        begin_call(sums, end, rate);
        sums->moving += rate;
    }
}

void tfd_end_depths(struct tfd_depths *sums)
{
    end_until(sums, INT64_MAX);
}
