"""The calls of a window of time, or the writes that may be checkpoints: read without those in between."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import pandas as pd

from tfdarshan.analysis.calls.file_names import FileNames
from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.calls.overview_rows import OverviewPart, overview_parts
from tfdarshan.analysis.calls.segments import EVENTS, FAULTS, WRITE, SegmentLoader, Segments
from tfdarshan.analysis.calls.thinned_times import TABLE
from tfdarshan.sessions.process_data import ProcessData

EVER = 1 << 62


def load_window(
    processes: Sequence[ProcessData], window_ns: tuple[int, int], names: FileNames
) -> tuple[Segments, Segments]:
    """Read the calls that were running between two moments, with faults on mapped files, and thinned calls.

    Args:
        processes: The processes.
        window_ns: From and until, since the session's start; no other row groups are read.
        names: Is told of their files; `Segments.file` is a place in it.

    Returns:
        The calls and faults, and the thinned calls, which know the threads of both.

    Raises:
        SessionDataError: A table is damaged or missing.
    """

    def ran(columns: dict[str, Array], _io_class: Array) -> Array:
        return (columns["start_ns"] < window_ns[1]) & (columns["end_ns"] >= window_ns[0])

    loader = SegmentLoader(processes, faults=True)
    found = []
    for tables in ([EVENTS, FAULTS], [TABLE]):
        for process, table in product(processes, tables):
            loader.add_some(process, table, [window_ns], ran, names)
        found.append(loader.segments())
    return found[0], found[1]


def load_writes(processes: Sequence[ProcessData], spans: pd.DataFrame, names: FileNames) -> Segments:
    """Read the writes of some spans of time.

    Args:
        processes: The processes.
        spans: `start_ns` and `end_ns`, such as `write_spans` gives; what was written outside may be missing.
        names: Is told of their files; `Segments.file` is a place in it.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    loader = SegmentLoader(processes)
    for process in processes:
        windows = _windows(process, spans)
        loader.add_some(process, EVENTS, windows, lambda _columns, io_class: io_class == WRITE, names)
    return loader.segments()


def write_spans(processes: Sequence[ProcessData], gap_ns: int, least_bytes: int) -> pd.DataFrame:
    """Return when much was written, from the overview tables, to within one of their bins.

    Every write that belongs to a run of writes less than `gap_ns` apart that moved `least_bytes` or more lies
    in a span; a span may hold several such runs, and writes that belong to none.

    Returns:
        One row per span, in order of time: `start_ns`, `end_ns`, `bytes` (int64).

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    writes = OverviewWrites()
    for part in overview_parts(processes):
        writes.add(part)
    return writes.spans(gap_ns, least_bytes)


class OverviewWrites:
    """Takes the writes out of overview tables."""

    def __init__(self) -> None:
        self._starts, self._ends, self._moved = ([np.zeros(0, np.int64)] for _ in range(3))

    def add(self, part: OverviewPart) -> None:
        """Add a process's rows."""
        chosen = part.io_class == WRITE
        self._starts.append(part.start_ns[chosen])
        self._ends.append(part.start_ns[chosen] + part.bin_ns)
        self._moved.append(part.bytes_moved[chosen])

    def spans(self, gap_ns: int, least_bytes: int) -> pd.DataFrame:
        """Return `write_spans` of what was added."""
        start, end, size = map(np.concatenate, (self._starts, self._ends, self._moved))
        order = np.argsort(start, kind="stable")
        start, end, size = start[order], end[order], size[order]
        reached = np.maximum.accumulate(end)
        heads = np.flatnonzero(np.concatenate([[True], start[1:] - reached[:-1] >= gap_ns]))[: len(start)]
        tails = np.append(heads[1:], len(start))[: len(heads)] - 1
        moved_in = np.add.reduceat(size, heads) if len(heads) else size
        table = pd.DataFrame({"start_ns": start[heads], "end_ns": reached[tails], "bytes": moved_in})
        return table[table["bytes"] >= least_bytes].reset_index(drop=True)


def _windows(process: ProcessData, spans: pd.DataFrame) -> list[tuple[int, int]]:
    """Return the spans; the overview counts in these what began before its first or after its last bin."""
    first_ns = int(process.meta["start_ns"])
    last_ns = first_ns + int(process.meta["duration_ns"])
    return [
        (from_ns if from_ns > first_ns else -EVER, until_ns if until_ns < last_ns else EVER)
        for from_ns, until_ns in zip(spans["start_ns"].tolist(), spans["end_ns"].tolist(), strict=True)
    ]
