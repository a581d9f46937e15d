"""Calls on input that took longer than the page cache does, each judged by itself: storage served them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.calls.call_kinds import KIND
from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.calls.stretches import Columns, Stretches
from tfdarshan.analysis.storage.storage_passes import CACHED_CALL_S, CACHED_S_PER_BYTE
from tfdarshan.native.input_sums import InputCalls, chosen_stored
from tfdarshan.thresholds import THRESHOLD

# The last bytes of a pass may be of files that are read in part.
THROUGH = 1 - THRESHOLD["rarely"]
EVER_NS = np.iinfo(np.int64).max


@dataclass(frozen=True)
class StoredCalls:
    """They.

    Attributes:
        by_file: Of each row of the file table how many reads with data, and their durations in ns; int64.
        stretches: Stretches of all of them, and of like calls on files that the job made itself: starts and
            ends in ns, bytes read, `call_kinds.CALL_KINDS`, threads.
        first_pass_ends_ns: When as many bytes were read as the input has; None if so many never were.
    """

    by_file: tuple[Array, Array]
    stretches: list[Columns]
    first_pass_ends_ns: int | None


class StoredSums:
    """Adds them up, block by block, in order of start.

    Args:
        files: Rows of the file table.
        pass_bytes: What reading the input through once moves; None if that is not asked for.
    """

    def __init__(self, files: int, pass_bytes: float | None) -> None:
        self._pass_bytes, self._moved, self._through_ns = pass_bytes, 0.0, EVER_NS
        self._by_file = (np.zeros(files, np.int64), np.zeros(files, np.int64))
        self._stretches = Stretches()

    def add(self, calls: InputCalls, beside: InputCalls | None = None) -> None:
        """Add calls on input, some of which storage served.

        Args:
            calls: They.
            beside: These and others that stretches have, too: how long they take shows what storage bears.
        """
        if self._pass_bytes is not None and self._through_ns == EVER_NS:
            reads = calls.kind == KIND["read"]
            self._go_through(self._pass_bytes, calls.length[reads], calls.end_ns[reads])
        slow = chosen_stored(calls, CACHED_CALL_S, CACHED_S_PER_BYTE)
        reads = slow[calls.kind[slow] == KIND["read"]]
        np.add.at(self._by_file[0], calls.file[reads], 1)
        np.add.at(self._by_file[1], calls.file[reads], (calls.end_ns - calls.start_ns)[reads])
        self._stretches.add(*_columns(calls if beside is None else beside))

    def calls(self) -> StoredCalls:
        """Return what was added up."""
        ended = self._through_ns < EVER_NS
        return StoredCalls(self._by_file, self._stretches.parts(), self._through_ns if ended else None)

    def _go_through(self, pass_bytes: float, length: Array, end_ns: Array) -> None:
        if not len(length):
            return
        reached = self._moved + np.cumsum(length, dtype=np.float64)
        at = int(np.searchsorted(reached, THROUGH * pass_bytes))
        if at < len(reached):
            self._through_ns = int(end_ns[at])
        self._moved = float(reached[-1])


def _columns(calls: InputCalls) -> Columns:
    """Return the columns of a stretch of those that storage served."""
    slow = chosen_stored(calls, CACHED_CALL_S, CACHED_S_PER_BYTE)
    kind = calls.kind[slow]
    length = calls.length[slow] * (kind == KIND["read"])
    return calls.start_ns[slow], calls.end_ns[slow], length, kind, calls.thread[slow]
