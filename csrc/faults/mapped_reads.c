#include "faults/mapped_reads.h"

#include <stdint.h>

#include "faults/fault_budget.h"
#include "faults/watcher.h"
#include "mapping/mappings.h"
#include "mapping/range_table.h"
#include "recorder/recording.h"

static bool is_left_alone;

static void watch(uint64_t file, int fd)
{
    tfd_watcher_start();
    tfd_watcher_begin_file(file, fd);
}

void tfd_mapped_reads_leave_alone(void)
{
    is_left_alone = true;
}

void tfd_mapped_reads_begin(bool large_alone)
{
    if (is_left_alone || !tfd_watcher_stop())
        return;
    tfd_recording_tell(tfd_mappings_begin_in_child, tfd_watcher_settle);
    tfd_fault_budget_allow();
    tfd_mappings_begin(large_alone, watch);
}

bool tfd_mapped_reads_end(void)
{
    tfd_mappings_end();
    bool ended = tfd_watcher_stop();
    if (ended)
        tfd_ranges_reset();
    return ended;
}

void tfd_mapped_reads_reset_in_child(void)
{
    tfd_watcher_reset_in_child();
    tfd_mappings_reset_in_child();
}
