"""Calls of all processes in order of start, with no more of each in memory than a row group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tfdarshan.analysis.intervals import Array


def in_order(streams: Sequence[Iterator[Array]]) -> Iterator[Array]:
    """Merges streams of blocks, each in order of start, into one; a block's first row has the starts."""
    firsts = ((place, next(stream, None)) for place, stream in enumerate(streams))
    pending = {place: block for place, block in firsts if block is not None}
    while pending:
        until_ns = min(int(block[0, -1]) for block in pending.values())
        parts = []
        for place, block in tuple(pending.items()):
            count = int(np.searchsorted(block[0], until_ns, side="right"))
            parts.append(block[:, :count])
            rest = block[:, count:] if count < block.shape[1] else next(streams[place], None)
            if rest is None:
                del pending[place]
            else:
                pending[place] = rest
        merged = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)
        yield merged if len(parts) == 1 else merged[:, np.argsort(merged[0], kind="stable")]
