"""What steps waited with calls on each file under way."""

import numpy as np
import pytest

from tfdarshan.analysis.in_order.shared_waits import SharedWaits
from tfdarshan.analysis.intervals import covered

MS = 1_000_000
# From, until, file, in ms: the second call goes on into the second wait.
CALLS = [(0, 10, 0), (5, 25, 1), (8, 9, 2), (11, 19, 2), (40, 50, 0)]
PARTS = [5 + 3 / 2 + 1 / 3 + 1 / 2, 3 / 2 + 1 / 3 + 1 / 2 + 5, 1 / 3, 0]


@pytest.mark.parametrize("block", [1, 2, len(CALLS)])
def test_calls_under_way_at_a_time_share_the_wait(block):
    # GIVEN waits from 0 to 10 ms and from 20 to 30 ms, and calls that come in blocks
    starts, ends = (np.array(moments) * MS for moments in ([0, 20], [10, 30]))
    waits = SharedWaits(4, covered(starts, ends))
    start, end, file = np.array(CALLS).T
    for first in range(0, len(CALLS), block):
        part = slice(first, first + block)
        waits.add(start[part] * MS, end[part] * MS, file[part])

    # THEN all together have the 15 ms in which any call was, and none has anything of the rests
    found = waits.sums_s()
    assert found == pytest.approx(np.array(PARTS) / 1000)
    assert found.sum() == pytest.approx(0.015)


def test_without_calls_nothing_is_shared():
    waits = SharedWaits(2, covered(np.array([0]), np.array([10 * MS])))
    waits.add(np.array([20 * MS]), np.array([30 * MS]), np.array([0]))

    assert waits.sums_s().tolist() == [0, 0]
