"""What steps wait that no call is part of, nor makes room for beside the step before."""

import numpy as np
import pytest

from tests.unit.findings.made_up_training import training
from tfdarshan.analysis.in_order.unhidden_waits import UnhiddenWaits
from tfdarshan.findings.measurement import measure

MS = 1_000_000
# Begin of a step, and end of its wait, in ms.
WAITS = np.array([(0, 20), (50, 60), (100, 104), (150, 158), (200, 230)])
# The first is under way for 15 ms of the first wait and 3 ms of the step after it, the next two together for
# 5 ms of the second wait, the last one for 2 ms of the step before the fourth wait and into that.
CALLS = [(5, 23), (52, 55), (53, 57), (120, 121), (149, 152)]
LEFT_MS = (20 - 15) + (10 - 5 - 3) + 4 + (8 - 2 - 2) + 30
# What a thread goes on later after its call: three of them end in a wait.
WOKEN_MS = 3 * 0.05


@pytest.mark.parametrize("block", [1, 2, len(CALLS)])
def test_what_calls_have_no_part_in_is_waited_for_without_them(block):
    # GIVEN calls that come in blocks
    waits = UnhiddenWaits(*(WAITS * MS).T)
    start, end = np.array(CALLS).T * MS
    for first in range(0, len(CALLS), block):
        part = slice(first, first + block)
        waits.add(start[part], end[part])

    # THEN each wait is left but for calls in it, and what time calls take of the step before
    assert 1e3 * waits.sum_s() == pytest.approx(LEFT_MS - WOKEN_MS)


def test_without_calls_all_waits_are_left():
    waits = UnhiddenWaits(*(WAITS * MS).T)
    waits.add(np.zeros(0, np.int64), np.zeros(0, np.int64))

    assert 1e3 * waits.sum_s() == pytest.approx(72)


def test_what_follows_each_of_many_calls_goes_with_them():
    # GIVEN a wait of 20 ms with 100 calls of 150 us, one each 200 us, or quick ones of 10 us
    left_s = []
    for call_us in (150, 10):
        waits = UnhiddenWaits(np.array([0]), np.array([20 * MS]))
        start = 200_000 * np.arange(100)
        waits.add(start, start + 1000 * call_us)
        left_s.append(waits.sum_s())

    # THEN the gaps after them are none without them, but for no more than a call took
    assert left_s == pytest.approx([0.0, 100 * (200 - 10 - 10) * 1e-6])


def epoch_by_epoch(logdir, *, lost=0):
    """Gives four epochs of 25 steps that compute 30 ms, the first of which waits 65 ms: 50 for a read."""
    calls, steps, at = [], [], 0.0
    for epoch in range(4):
        calls += [(at + 10, at + 60, 1, "pread", epoch, 1 << 20, 0)]
        # Beside compute in the middle of the epoch it reads on.
        calls += [
            (at + 95 + 300 + n, at + 95 + 390 + n, 1, "pread", epoch, 4 << 20, 1 << 20) for n in (0, 91)
        ]
        for step in range(25):
            wait = 65.0 if step == 0 else 0.6
            steps.append((at, at + wait + 30, wait))
            at += wait + 30
    paths, sizes = [f"/data/{n}" for n in range(4)], [9 << 20] * 4
    counts = {"files": 4, "events": len(calls) + lost, "segments": len(calls)}
    return training(logdir, calls, steps, paths=paths, sizes=sizes, meta={"counts": counts})


def test_first_batches_and_ready_ones_are_waited_for_wherever_files_are(tmp_path):
    # GIVEN epochs whose pipeline works 15 ms beside its first read, and hands batches over in 0.6 ms
    model = measure(epoch_by_epoch(tmp_path / "logs")).model

    # THEN these 15 ms are left, and the waits but for the six or so that follow a step beside which it reads
    waited_s, left_s = 4 * (65 + 24 * 0.6) / 1e3, 4 * (15 + (24 - 6) * 0.6) / 1e3
    assert model.units * model.most_wait_s == pytest.approx(waited_s)
    assert model.units * model.unhidden_s == pytest.approx(left_s, abs=3e-3)


def test_where_calls_were_not_kept_nothing_is_known_to_be_left(tmp_path):
    model = measure(epoch_by_epoch(tmp_path / "logs", lost=50)).model

    assert model.unhidden_s == 0
