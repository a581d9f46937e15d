"""Phases of few reads beside phases of many have the depths and rates that the reads were made with."""

import numpy as np
import pytest

from tfdarshan.analysis.calls.call_kinds import KIND
from tfdarshan.analysis.calls.depth_phases import depth_phases

MS = 1_000_000


def phase(at_ms, readers, *, each_ms=5.0, length=1_000_000, threads=None):
    """Return 400 ms of readers that read all the time, each after the other in turn."""
    rows = []
    for reader in range(readers):
        first = at_ms + each_ms * reader / readers
        for number in range(int(400 / each_ms)):
            start = first + each_ms * number
            rows.append(
                (start * MS, (start + each_ms) * MS, length, KIND["read"], reader % (threads or readers))
            )
    return rows


def stretch(*phases):
    rows = np.array(sorted(row for rows in phases for row in rows))
    start, end, length, kind, thread = rows.T
    return (
        start.astype(np.int64),
        end.astype(np.int64),
        length,
        kind.astype(np.uint8),
        thread.astype(np.int32),
    )


def test_phases_have_the_depths_and_rates_of_their_reads():
    # GIVEN 8 reads of 1 MB at a time in 5 ms, and 2 that are twice as quick in every third phase
    phases = [phase(400 * n, 2, each_ms=1.0) if n % 3 == 0 else phase(400 * n, 8) for n in range(1, 10)]

    found = depth_phases([stretch(*phases)])

    # THEN 8 get 1.6 GB/s, and 2 get 2 GB/s
    assert found.shallow_phases == 3
    assert found.usual_depth == pytest.approx(8, rel=0.02)
    assert found.shallow_depth == pytest.approx(2, rel=0.05)
    assert np.median(found.usual_rate) == pytest.approx(1.6e9, rel=0.02)
    assert np.median(found.shallow_rate) == pytest.approx(2e9, rel=0.02)
    # ... and those of several stretches are the same
    apart = depth_phases([stretch(*phases[:4]), stretch(*phases[4:])])
    assert apart.shallow_phases == 3
    assert apart.usual_depth == pytest.approx(found.usual_depth, rel=0.01)


@pytest.mark.parametrize(
    "stretches",
    [[], [stretch(phase(0, 1)[:5])], [stretch(phase(0, 8), phase(400, 8))]],
    ids=["no reads", "few reads", "always as deep"],
)
def test_reads_that_show_no_phases(stretches):
    assert depth_phases(stretches) is None


def test_as_many_threads_that_are_quicker_are_no_shallow_phase():
    # GIVEN phases in which memory serves the same 8 threads: 2 of their reads are under way at a time
    phases = [phase(400 * n, 2, each_ms=1.0) if n % 3 == 0 else phase(400 * n, 8) for n in range(1, 10)]
    by_all = [[(*row[:4], place % 8) for place, row in enumerate(rows)] for rows in phases]

    assert depth_phases([stretch(*phases)]) is not None
    assert depth_phases([stretch(*by_all)]) is None
