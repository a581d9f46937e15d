"""Calls on input that take longer than storage is known to wait, and how many between them are quick."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.calls.call_kinds import CALL_KINDS, KIND
from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.calls.limited_quantity import COUNTED_BYTES
from tfdarshan.analysis.calls.stretches import Columns, Stretches
from tfdarshan.thresholds import THRESHOLD

# Disks seek in 10 ms, and servers answer sooner; object stores take up to 20 ms more. Where a job rests
# between its calls, a limit holds them no longer than some storage waits: then it shows in these alone.
HELD_NS = tuple(round(1e9 * THRESHOLD[name]) for name in ("held", "held short"))
# A call is quick if it takes so little of that.
QUICK = THRESHOLD["hardly"]
READ = KIND["read"]


@dataclass(frozen=True)
class HeldCalls:
    """They, and what was called from the first of them to the last.

    Attributes:
        least_ns: What they took at least.
        stretches: Stretches of them, in order of start: starts and ends in ns, files, kinds (CALL_KINDS), and
            bytes and calls of the reads from the first call of all to this one, with it. Of a read each
            `COUNTED_BYTES` are a call.
        counts: Of each kind how many calls there were from the first one's start to the last one's.
        quick: How many of these were quick.
        held_ns: Their durations added up.
        all_ns: Those of all calls.
    """

    least_ns: int
    stretches: list[Columns]
    counts: Array
    quick: Array
    held_ns: int
    all_ns: int


class HeldSums:
    """Collects them, block by block, in order of start.

    Args:
        least_ns: What they take at least.
    """

    def __init__(self, least_ns: int) -> None:
        self._least_ns = least_ns
        self._stretches = Stretches()
        # Calls count as soon as a held one follows them.
        self._sums, self._waiting = (np.zeros((2, len(CALL_KINDS)), np.int64) for _ in range(2))
        self._held_ns = self._all_ns = 0
        self._given = np.zeros(2, np.int64)
        self._began = False

    def add(self, file: Array, kind: Array, start_ns: Array, end_ns: Array, length: Array) -> None:
        """Add calls."""
        lasted = end_ns - start_ns
        given = self._given[:, None] + _given(np.where(kind == READ, length, 0))
        self._all_ns += int(lasted.sum())
        held = np.flatnonzero(lasted >= self._least_ns)
        if len(held):
            self._held_ns += int(lasted[held].sum())
            self._stretches.add(start_ns[held], end_ns[held], file[held], kind[held], *given[:, held])
            first = 0 if self._began else int(held[0])
            last = int(held[-1]) + 1
            self._sums += self._waiting + self._counted(kind[first:last], lasted[first:last])
            self._waiting[:] = self._counted(kind[last:], lasted[last:])
            self._began = True
        elif self._began:
            self._waiting += self._counted(kind, lasted)
        self._given = given[:, -1]

    def calls(self) -> HeldCalls:
        """Return what was collected."""
        counts, quick = self._sums
        return HeldCalls(self._least_ns, self._stretches.parts(), counts, quick, self._held_ns, self._all_ns)

    def _counted(self, kind: Array, lasted_ns: Array) -> Array:
        """Count calls by kind, all of them and the quick ones; int64 of shape (2, kinds)."""
        quick = kind[lasted_ns < QUICK * self._least_ns]
        return np.array([np.bincount(some, minlength=len(CALL_KINDS)) for some in (kind, quick)])


def _given(length: Array) -> Array:
    """Add up bytes and calls, call by call; int64 of shape (2, calls)."""
    return np.cumsum([length, -(-length // COUNTED_BYTES)], axis=1, dtype=np.int64)
