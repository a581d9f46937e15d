#include "offline/aggregate/aggregate.h"

#include <stdbool.h>

enum { BY_OTHERS, BY_LOOP, BY_WAITING_LOOP, WHO };
enum { CALLS, LASTED, MOVED };
/* Columns of a thread's row. */
enum { BUSY, FIRST, LAST, THREAD };

size_t tfd_choose_input(const uint8_t *kind_of_operation, const uint8_t *is_input, const uint8_t *operation,
                        const int32_t *file, const int64_t *length, const int16_t *error, size_t count,
                        int32_t *places, uint8_t *kinds)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        uint8_t kind = kind_of_operation[operation[i]];
        if (kind == TFD_READS && !length[i] && !error[i])
            kind = TFD_EMPTY_READS;
        places[found] = (int32_t)i;
        kinds[found] = kind;
        found += is_input[file[i]] && kind != TFD_WRITES && kind != TFD_SYNCS;
    }
    return found;
}

size_t tfd_choose_stored(const struct tfd_input_calls *calls, double call_s, double byte_s, int32_t *places)
{
    size_t found = 0;
    for (size_t i = 0; i < calls->count; i++) {
        double moved = calls->kind[i] == TFD_READS ? (double)calls->length[i] : 0;
        places[found] = (int32_t)i;
        found += (double)(calls->end_ns[i] - calls->start_ns[i]) / 1e9 > call_s + moved * byte_s;
    }
    return found;
}

/* Return the last interval from `first` on that begins by `at_ns`, `first` if none does. */
static size_t stretch_at(const struct tfd_stretches *in, size_t first, int64_t at_ns)
{
    size_t after = in->count;
    if (first + 1 >= after || in->start_ns[first + 1] > at_ns)
        return first;
    while (after - first > 1) {
        size_t middle = first + (after - first) / 2;
        if (in->start_ns[middle] <= at_ns)
            first = middle;
        else
            after = middle;
    }
    return first;
}

static int64_t covered_until(const struct tfd_stretches *in, size_t place, int64_t at_ns)
{
    int64_t end_ns = at_ns < in->end_ns[place] ? at_ns : in->end_ns[place];
    return at_ns < in->start_ns[place] ? in->before_ns[place]
                                       : in->before_ns[place] + end_ns - in->start_ns[place];
}

/* Return the part of a call within the intervals. Calls come in order of start. */
static int64_t within(struct tfd_stretches *in, int64_t start_ns, int64_t end_ns)
{
    if (!in->count)
        return 0;
    in->place = stretch_at(in, in->place, start_ns);
    return covered_until(in, stretch_at(in, in->place, end_ns), end_ns) -
           covered_until(in, in->place, start_ns);
}

static bool is_in(struct tfd_stretches *in, int64_t at_ns)
{
    if (!in->count)
        return false;
    in->place = stretch_at(in, in->place, at_ns);
    return at_ns >= in->start_ns[in->place] && at_ns < in->end_ns[in->place];
}

static void add_to_thread(int64_t *row, int64_t start_ns, int64_t end_ns)
{
    row[BUSY] += end_ns - start_ns;
    row[FIRST] = start_ns < row[FIRST] ? start_ns : row[FIRST];
    row[LAST] = end_ns > row[LAST] ? end_ns : row[LAST];
}

void tfd_add_input_times(struct tfd_input_times *sums, const struct tfd_input_calls *calls, int32_t loop)
{
    for (size_t i = 0; i < calls->count; i++) {
        int64_t start = calls->start_ns[i], end = calls->end_ns[i];
        bool by_loop = calls->thread[i] == loop;
        int who = !by_loop ? BY_OTHERS : is_in(&sums->waiting, start) ? BY_WAITING_LOOP : BY_LOOP;
        int64_t *row = sums->by_kind + (calls->kind[i] * WHO + who) * TFD_KIND_SUMS;
        row[CALLS]++;
        row[LASTED] += end - start;
        row[MOVED] += calls->length[i];
        add_to_thread(sums->by_thread + (size_t)calls->thread[i] * THREAD, start, end);
        int64_t waited = within(&sums->waits, start, end);
        sums->in_waits_ns += waited;
        sums->loop_in_waits_ns += by_loop ? waited : 0;
        sums->in_rests_ns += within(&sums->rests, start, end);
        if (end > sums->reached_ns) {
            sums->union_ns += end - (start > sums->reached_ns ? start : sums->reached_ns);
            sums->reached_ns = end;
        }
    }
}
