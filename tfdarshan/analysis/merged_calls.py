"""Calls of all processes in order of start, with no more of each in memory than a row group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tfdarshan.analysis.intervals import Array

# Columns of some calls, the first one their starts.
Columns = tuple[Array, ...]


def in_order(streams: Sequence[Iterator[Columns]]) -> Iterator[Columns]:
    """Merges streams of calls, each in order of start, into one."""
    if len(streams) == 1:
        yield from streams[0]
        return
    firsts = ((place, next(stream, None)) for place, stream in enumerate(streams))
    pending = {place: block for place, block in firsts if block is not None}
    while pending:
        until_ns = min(int(block[0][-1]) for block in pending.values())
        parts = []
        for place, block in tuple(pending.items()):
            count = int(np.searchsorted(block[0], until_ns, side="right"))
            parts.append(tuple(values[:count] for values in block))
            rest = tuple(values[count:] for values in block)
            left = rest if len(rest[0]) else next(streams[place], None)
            if left is None:
                del pending[place]
            else:
                pending[place] = left
        yield parts[0] if len(parts) == 1 else _merged(parts)


def _merged(parts: Sequence[Columns]) -> Columns:
    joined = [np.concatenate(values) for values in zip(*parts, strict=True)]
    order = np.argsort(joined[0], kind="stable")
    return tuple(values[order] for values in joined)
