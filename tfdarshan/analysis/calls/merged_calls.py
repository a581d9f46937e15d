"""Calls of all processes in order of start, with no more of each in memory than a row group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.sessions import schema

# Columns of some calls, the first one their starts.
Columns = tuple[Array, ...]


def in_order(streams: Sequence[Iterator[Columns]]) -> Iterator[Columns]:
    """Merge streams of calls, each in order of start, into one.

    Blocks are gathered until they have the rows of a row group: a thousand short processes are few blocks.
    """
    if len(streams) == 1:
        yield from streams[0]
        return
    pending, parts, rows = _Pending(streams), list[Columns](), 0
    while pending:
        found = pending.take()
        parts += found
        rows += sum(len(part[0]) for part in found)
        if rows >= schema.EVENTS_ROW_GROUP or not pending:
            yield parts[0] if len(parts) == 1 else _merged(parts)
            parts, rows = [], 0


class _Pending:
    """The next block of each stream, found by its first and by its last start."""

    def __init__(self, streams: Sequence[Iterator[Columns]]) -> None:
        self._streams = streams
        self._blocks: dict[int, Columns] = {}
        # Heaps of (start, stream).
        self._firsts: list[tuple[int, int]] = []
        self._lasts: list[tuple[int, int]] = []
        for stream in range(len(streams)):
            self._next(stream)

    def __bool__(self) -> bool:
        return bool(self._blocks)

    def take(self) -> list[Columns]:
        """Return the calls up to the last of the block that ends first: a part for each stream."""
        until_ns, streams = self._lasts[0][0], list[int]()
        while self._lasts and self._lasts[0][0] == until_ns:
            heappop(self._lasts)
        while self._firsts and self._firsts[0][0] <= until_ns:
            streams.append(heappop(self._firsts)[1])
        return [self._until(stream, until_ns) for stream in sorted(streams)]

    def _until(self, stream: int, until_ns: int) -> Columns:
        block = self._blocks.pop(stream)
        count = int(np.searchsorted(block[0], until_ns, side="right"))
        if count < len(block[0]):
            self._keep(stream, tuple(values[count:] for values in block))
        else:
            self._next(stream)
        return tuple(values[:count] for values in block)

    def _next(self, stream: int) -> None:
        block = next(self._streams[stream], None)
        if block is not None:
            heappush(self._lasts, (int(block[0][-1]), stream))
            self._keep(stream, block)

    def _keep(self, stream: int, block: Columns) -> None:
        self._blocks[stream] = block
        heappush(self._firsts, (int(block[0][0]), stream))


def _merged(parts: Sequence[Columns]) -> Columns:
    joined = [np.concatenate(values) for values in zip(*parts, strict=True)]
    order = np.argsort(joined[0], kind="stable")
    return tuple(values[order] for values in joined)
