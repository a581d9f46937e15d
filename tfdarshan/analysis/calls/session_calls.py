"""All calls of a session, block by block in order of start: as often as somebody asks for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.calls.segments import Segments, load_segments, segment_blocks
from tfdarshan.sessions.process_data import ProcessData

# A session of so few calls is read once, and kept: some 60 bytes a call.
KEPT_CALLS = 1 << 20


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

    def blocks(self) -> Iterator[Segments]:
        """Yield all of them.

        Raises:
            SessionDataError: A table is damaged or missing.
        """
        if self.in_memory is not None:
            return self.in_memory.blocks()
        return segment_blocks(self._processes, self._index)

    def within(self, window_ns: tuple[int, int]) -> Iterator[Segments]:
        """Yield those that were running within some time, and some that were not."""
        if self.in_memory is not None:
            return self.in_memory.blocks()
        return segment_blocks(self._processes, self._index, windows_ns=[window_ns])
