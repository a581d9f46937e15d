"""All calls of a session, block by block in order of start: as often as somebody asks for them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property

import numpy as np

from tfdarshan.analysis.calls.intervals import Array, covered
from tfdarshan.analysis.calls.segments import STORED, Segments, load_segments, segment_blocks
from tfdarshan.sessions.process_data import ProcessData

# A session of so few calls is read once, and kept: some 60 bytes a call.
KEPT_CALLS = 1 << 20
# Stretches of time that row groups are chosen by; of more of them neighbours count as one.
MOST_STRETCHES = 4096


class SessionCalls:
    """The calls of some processes.

    Args:
        processes: The processes.
        file_index: Per process, the file-table index of each of its file ids: `FileTable.index`.
    """

    def __init__(self, processes: Sequence[ProcessData], file_index: Sequence[Array]) -> None:
        self._processes, self._index = processes, file_index

    @cached_property
    def in_memory(self) -> Segments | None:
        """All of them if they are few, else None."""
        few = sum(int(process.meta["counts"]["segments"]) for process in self._processes) <= KEPT_CALLS
        return load_segments(self._processes, self._index) if few else None

    def blocks(self, columns: Collection[str] = STORED) -> Iterator[Segments]:
        """Yield all of them.

        Args:
            columns: As `segment_blocks` takes it.

        Raises:
            SessionDataError: A table is damaged or missing.
        """
        if self.in_memory is not None:
            return self.in_memory.blocks()
        return segment_blocks(self._processes, self._index, columns=columns)

    def within(self, start_ns: Array, end_ns: Array) -> Iterator[Segments]:
        """Yield those that were running within some stretches of time, and some that were not.

        Args:
            start_ns: Where the stretches begin.
            end_ns: Where they end.
        """
        if self.in_memory is not None:
            return self.in_memory.blocks()
        return segment_blocks(self._processes, self._index, windows_ns=_few(start_ns, end_ns))


def _few(start_ns: Array, end_ns: Array) -> list[tuple[int, int]]:
    """Return stretches that hold all of some: as many as are quickly compared with row groups."""
    united = covered(start_ns, end_ns)
    heads = np.arange(0, len(united.start_ns), max(1, len(united.start_ns) // MOST_STRETCHES))
    tails = np.append(heads[1:], len(united.start_ns))[: len(heads)] - 1
    return list(zip(united.start_ns[heads].tolist(), (united.end_ns[tails] + 1).tolist(), strict=True))
