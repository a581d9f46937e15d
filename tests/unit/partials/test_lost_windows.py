"""The standard questions when whoever reads a window is killed: the rest is right, what lacks is said."""

from typing import Any, cast

import pytest

from tests.unit.partials.lethal_question import DeadlyFor
from tests.unit.partials.test_dask_cluster import MS, three_processes
from tfdarshan.analysis.call_answers import call_answers
from tfdarshan.analysis.call_details import CallDetails
from tfdarshan.analysis.call_totals import CallTotals
from tfdarshan.analysis.time_bins import TimeBins
from tfdarshan.analysis.time_windows import time_windows
from tfdarshan.partials.process_pool import ProcessPool

pytestmark = pytest.mark.long

BINS = TimeBins(0, 100 * MS, 10)


def answers(folder, kinds):
    """Gives what three processes of 100 calls did, without a window, and how many calls that had."""
    session, windows = three_processes(folder)
    lost = windows[1]
    runner = cast(Any, DeadlyFor(ProcessPool(2), lost.name, kinds))
    calls = sum(lost.from_ns <= n * 10 * MS + k * MS < lost.until_ns for n in range(100) for k in range(3))
    assert len(time_windows(session.processes, 64)) == len(windows) > 2
    assert 0 < calls < 300
    return call_answers(session.processes, BINS, runner, 64), calls, lost


def test_calls_that_nobody_lived_to_read_are_missing_and_named(tmp_path):
    # WHEN
    found, missing, lost = answers(tmp_path, (CallTotals, CallDetails))

    # THEN
    assert found.by_process["calls"].sum() == found.by_operation["calls"].sum() == 300 - missing
    assert found.latency["calls"].sum() == 300 - missing
    assert found.clock.io_s is None
    (said,) = found.left_out
    assert said == (f"{lost.name} are missing from what is said of calls: each process that read them ended")


def test_a_window_that_was_lost_at_the_second_look_leaves_the_totals(tmp_path):
    # WHEN
    found, _, lost = answers(tmp_path, (CallDetails,))

    # THEN percentiles are those of the histogram
    assert found.by_process["calls"].sum() == found.latency["calls"].sum() == 300
    assert found.clock.io_s == pytest.approx(100 * 9 * MS / 1e9)
    assert found.latency["p50_ns"].item() == pytest.approx(7 * MS, rel=1 / 512)
    (said,) = found.left_out
    assert said == (
        f"percentiles are too low by one part in 512 at most, and {lost.name} are missing from what threads "
        "did when: each process that read them ended"
    )
