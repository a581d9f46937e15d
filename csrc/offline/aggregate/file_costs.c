#include "offline/aggregate/aggregate.h"

/* Columns of a file's row. */
enum { OPENS, READS, READ_BYTES, READ_NS, OTHER_NS, OPEN_NS, STAT_NS, FIRST_NS, LAST_NS };

static void add_read(int64_t *row, int64_t length, int64_t start_ns, int64_t end_ns)
{
    if (!row[READS] || start_ns < row[FIRST_NS])
        row[FIRST_NS] = start_ns;
    if (end_ns > row[LAST_NS])
        row[LAST_NS] = end_ns;
    row[READS]++;
    row[READ_BYTES] += length;
    row[READ_NS] += end_ns - start_ns;
}

/* Calls ahead for which rows are prefetched: rows of files far apart are seldom in the processor's cache. */
enum { AHEAD = 16 };

static void ask_for(const struct tfd_input_calls *calls, size_t call, int64_t *costs)
{
    if (call >= calls->count)
        return;
    size_t file = (size_t)calls->file[call];
    __builtin_prefetch(costs + file * TFD_FILE_COSTS, 1);
    __builtin_prefetch(costs + (file + 1) * TFD_FILE_COSTS - 1, 1);
}

void tfd_add_file_costs(const struct tfd_input_calls *calls, int64_t *costs)
{
    for (size_t i = 0; i < calls->count; i++) {
        ask_for(calls, i + AHEAD, costs);
        int64_t *row = costs + (size_t)calls->file[i] * TFD_FILE_COSTS;
        int64_t lasted = calls->end_ns[i] - calls->start_ns[i];
        uint8_t kind = calls->kind[i];
        if (kind == TFD_READS) {
            add_read(row, calls->length[i], calls->start_ns[i], calls->end_ns[i]);
            continue;
        }
        row[OTHER_NS] += lasted;
        row[OPENS] += kind == TFD_OPENS;
        row[OPEN_NS] += kind == TFD_OPENS || kind == TFD_CLOSES ? lasted : 0;
        row[STAT_NS] += kind == TFD_STATS ? lasted : 0;
    }
}
