"""Cells of a probe of made-up storage."""

from __future__ import annotations

from tfdarshan.storage_probe.prober import DEPTHS, Cell, Read

ROUNDS = 4


def cells_of(calls_by, rounds=ROUNDS, own_s=0.0, **more):
    """Return a probe's cells of storage, of which `calls_by(readers)` gives the calls in ms."""
    return [
        Cell(
            turn,
            True,
            readers,
            tuple(
                Read(start / 1e3, end / 1e3, f"/data/{n % 12}", size)
                for n, (start, end, _, size) in enumerate(calls_by(readers)[: DEPTHS[readers]])
            ),
            own_s,
        )
        for turn in range(rounds)
        for readers in DEPTHS
    ]
