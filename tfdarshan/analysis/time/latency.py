"""How long calls took, by kind and size: histograms that merge, and their percentiles."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pandas as pd

from tfdarshan.analysis.calls.segments import Operation, Segments, operation_codes, operations_of
from tfdarshan.analysis.calls.time_windows import WINDOW_CALLS, TimeWindow, time_windows
from tfdarshan.analysis.files.access_sizes import SIZE_LABELS
from tfdarshan.native.call_sums import SIZES, Calls, DurationSums, cell_start_ns
from tfdarshan.partials.serial import SERIAL, Runner, answered
from tfdarshan.sessions.process_data import ProcessData

NUMBERS = ("start_ns", "end_ns", "length", "error")
STORED = (*NUMBERS, "operation")
PERCENTILES = (50, 90, 99, 99.9)
PERCENTILE_NAMES = tuple(f"p{share}_ns".replace(".", "_") for share in PERCENTILES)
COLUMNS = (
    "operation", "module", "size", "calls", "bytes", "total_ns", "mean_ns", *PERCENTILE_NAMES, "max_ns",
)  # fmt: skip
# A kind of call, its module, and a size bucket.
Name = tuple[str, str, int]


@dataclass(frozen=True)
class Durations:
    """Of some calls: bytes, times added up, the longest one, and how many are in each of DURATION_CELLS."""

    moved: int
    total_ns: int
    longest_ns: int
    cells: Counter[int]

    def __add__(self, other: Durations) -> Durations:
        return Durations(
            self.moved + other.moved,
            self.total_ns + other.total_ns,
            max(self.longest_ns, other.longest_ns),
            self.cells + other.cells,
        )

    def percentiles(self) -> list[int]:
        """Return PERCENTILES of them, in ns."""
        cells = sorted(self.cells)
        reached = np.cumsum([self.cells[cell] for cell in cells])
        # Of 1,000 calls, 999 are the quickest 99.9 %: 0.999 is no float.
        calls = [Fraction(str(share)) * int(reached[-1]) / 100 for share in PERCENTILES]
        ranks = [max(0, math.ceil(count) - 1) for count in calls]
        return cell_start_ns(np.array(cells)[np.searchsorted(reached, ranks, "right")]).tolist()


@dataclass(frozen=True)
class DurationsPartial:
    """By kind of call and size; what no call is of is left out."""

    groups: dict[Name, Durations]
    version: int = 1


@dataclass(frozen=True)
class CallDurations:
    """Adds up calls that did not fail."""

    def empty(self) -> DurationsPartial:
        """See `Question.empty`."""
        return DurationsPartial({})

    def map(self, task: TimeWindow) -> DurationsPartial:
        """See `Question.map`: a call is of the window that it begins in."""
        kinds = operations_of(task.processes)
        codes = {name: code for code, name in enumerate(kinds)}
        classes = np.array([kind.io_class for kind in kinds.values()], np.uint8)
        sums = DurationSums(len(kinds))
        for process in task.processes:
            for batch in process.event_batches(STORED, [(task.from_ns, task.until_ns)]):
                operation = operation_codes(batch.column("operation"), codes)
                start, end, length, error = (batch.column(name).to_numpy() for name in NUMBERS)
                own = np.flatnonzero((start >= task.from_ns) & (start < task.until_ns))
                calls = Calls(start[own], end[own], length[own], classes[operation[own]])
                sums.add(calls, operation[own], error[own])
        return _partial(sums, list(kinds.values()))

    def merge(self, one: DurationsPartial, other: DurationsPartial) -> DurationsPartial:
        """See `Question.merge`."""
        groups = dict(one.groups)
        for name, more in other.groups.items():
            groups[name] = groups[name] + more if name in groups else more
        return DurationsPartial(groups)


def latency(segments: Segments) -> pd.DataFrame:
    """Return the distribution of the calls' durations; failed calls are left out.

    Returns:
        One row per kind of call and, for those that move bytes, Darshan's size bucket, in order of both:
        `operation`, `module`, `size` (its label, "" for other calls), `calls`, `bytes` (int64), `total_ns`
        (int64, summed over threads), `mean_ns` (float64), `p50_ns`, `p90_ns`, `p99_ns`, `p99_9_ns`, `max_ns`
        (int64). A percentile is the smallest duration that this share of the calls did not exceed, or less
        by one part in 512 at most.
    """
    kinds = segments.operations
    sums = DurationSums(len(kinds))
    sums.add(segments.calls, segments.operation, segments.error)
    return _table(_partial(sums, kinds), [kind.name for kind in kinds])


def latency_by_windows(
    processes: Sequence[ProcessData], runner: Runner = SERIAL, calls: int = WINDOW_CALLS
) -> pd.DataFrame:
    """Return `latency` of all calls, in bounded memory.

    Args:
        processes: The session's processes.
        runner: What reads the calls.
        calls: How many are read at a time, as `time_windows` takes it.

    Raises:
        SessionDataError: A table is damaged or missing, or ends each process that reads it.
    """
    durations = answered(CallDurations(), time_windows(processes, calls), runner)
    return _table(durations, list(operations_of(processes)))


def _partial(sums: DurationSums, kinds: Sequence[Operation]) -> DurationsPartial:
    names = [(kind.name, kind.module, size) for kind in kinds for size in range(SIZES)]
    groups = {}
    for group in np.flatnonzero(sums.rows[:, 0]).tolist():
        _, moved, total_ns, longest_ns = sums.rows[group].tolist()
        used = np.flatnonzero(sums.cells[group])
        cells = Counter(dict(zip(used.tolist(), sums.cells[group][used].tolist(), strict=True)))
        groups[names[group]] = Durations(moved, total_ns, longest_ns, cells)
    return DurationsPartial(groups)


def _table(durations: DurationsPartial, operations: Sequence[str]) -> pd.DataFrame:
    """Make it, with the kinds of call in the order of `operations`."""
    rows = []
    for name in sorted(durations.groups, key=lambda name: (operations.index(name[0]), name[2])):
        (operation, module, size), found = name, durations.groups[name]
        label = SIZE_LABELS[size] if size < len(SIZE_LABELS) else ""
        calls, total_ns = found.cells.total(), found.total_ns
        times = (total_ns, total_ns / calls, *found.percentiles(), found.longest_ns)
        rows.append((operation, module, label, calls, found.moved, *times))
    return pd.DataFrame(rows, columns=list(COLUMNS))
