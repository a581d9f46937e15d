"""Calls that take longer than storage waits, and what was called between them, in blocks of any size."""

import numpy as np
import pytest

from tfdarshan.analysis.calls.call_kinds import CALL_KINDS, KIND
from tfdarshan.analysis.calls.throttled_calls import HeldSums

LEAST_NS = 100
READ, WRITE = KIND["read"], KIND["write"]
# Quick ones, held ones, and one that is neither.
LASTED = [1, 120, 2, 50, 1, 150, 1, 200, 3, 4]
KINDS = [READ, READ, WRITE, READ, READ, READ, WRITE, WRITE, READ, READ]


def sums(blocks):
    found = HeldSums(LEAST_NS)
    start_ns = 1000 * np.arange(len(LASTED))
    kind, end_ns = np.array(KINDS, np.uint8), start_ns + np.array(LASTED)
    for block in np.array_split(np.arange(len(LASTED)), blocks):
        length = np.full(len(block), 10)
        found.add(np.ones(len(block), np.int64), kind[block], start_ns[block], end_ns[block], length)
    return found.calls()


@pytest.mark.parametrize("blocks", [1, 2, 3, len(LASTED)])
def test_calls_from_the_first_held_one_to_the_last_are_counted(blocks):
    # WHEN
    found = sums(blocks)

    # THEN
    counts = np.zeros((2, len(CALL_KINDS)), np.int64)
    counts[0, [READ, WRITE]] = 4, 3
    counts[1, [READ, WRITE]] = 1, 2
    assert np.array_equal([found.counts, found.quick], counts)
    assert (found.held_ns, found.all_ns) == (120 + 150 + 200, sum(LASTED))
