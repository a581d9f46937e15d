"""How long calls took, by kind and size, as a question: histograms that merge, and their percentiles."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from tfdarshan.analysis.access_sizes import SIZE_LABELS
from tfdarshan.analysis.counted_values import CountedValues, NamedCounts, merged_counts
from tfdarshan.analysis.latency import LATENCY_COLUMNS, PERCENTILES
from tfdarshan.analysis.named_rows import NamedRows, merged_rows, named_rows, no_rows
from tfdarshan.analysis.time_windows import TimeWindow
from tfdarshan.analysis.window_calls import WindowCalls, window_calls
from tfdarshan.native.call_sums import DURATION_SUMS, SIZES, cell_start_ns, duration_sums

if TYPE_CHECKING:
    from tfdarshan.analysis.call_details import DetailsPartial, WantedCell

LONGEST = DURATION_SUMS - 1


@dataclass(frozen=True)
class DurationsPartial:
    """By kind of call, module and size bucket.

    Attributes:
        sums: DURATION_SUMS numbers.
        cells: How many calls are in each of DURATION_CELLS.
    """

    sums: NamedRows
    cells: NamedCounts
    version: int = 1


@dataclass(frozen=True)
class CallDurations:
    """Adds up calls that did not fail."""

    def empty(self) -> DurationsPartial:
        """See `Question.empty`."""
        return DurationsPartial(no_rows(DURATION_SUMS), {})

    def map(self, task: TimeWindow) -> DurationsPartial:
        """See `Question.map`."""
        return self.of_calls(window_calls(task, files=False))

    def of_calls(self, calls: WindowCalls) -> DurationsPartial:
        """Gives the partial of calls that are in memory."""
        kinds = max(len(calls.operations), 1)
        sums, cells = duration_sums(calls.begun, calls.operation[calls.own], calls.error[calls.own], kinds)
        names = [(kind.name, kind.module, size) for kind in calls.operations for size in range(SIZES)]
        used = np.flatnonzero(sums[:, 0]).tolist()
        counts: dict[Hashable, CountedValues] = {}
        for group in used:
            values = np.flatnonzero(cells[group])
            counts[names[group]] = CountedValues(values, cells[group][values])
        rows = named_rows([names[group] for group in used], sums[used], (LONGEST,))
        return DurationsPartial(rows, counts)

    def merge(self, one: DurationsPartial, other: DurationsPartial) -> DurationsPartial:
        """See `Question.merge`."""
        sums = merged_rows(one.sums, other.sums, (LONGEST,))
        return DurationsPartial(sums, merged_counts(one.cells, other.cells))

    def finish(self, partial: DurationsPartial) -> DurationsPartial:
        """See `Question.finish`: `latency_of` makes the table."""
        return partial


def wanted_cells(durations: DurationsPartial) -> frozenset[WantedCell]:
    """Gives the cells that percentiles are in, but for those that are a single ns."""
    return frozenset(
        (name, cell)
        for name, cells in ((name, durations.cells[name]) for name in durations.sums.names)
        for cell, _ in (cells.at_rank(rank) for rank in _ranks(cells))
        if cell_start_ns(np.array(cell + 1)) - cell_start_ns(np.array(cell)) > 1
    )


def latency_of(
    durations: DurationsPartial, operations: Sequence[str], details: DetailsPartial | None = None
) -> pd.DataFrame:
    """Gives `latency`.

    Args:
        durations: The sums.
        operations: The kinds of call in the order that they are listed in.
        details: What a second look at `wanted_cells` gave; without it a percentile is too low by one part in
            512 at most.
    """
    order = {name: place for place, name in enumerate(operations)}
    rows = []
    for name in sorted(durations.sums.names, key=lambda name: (order[name[0]], name[2])):
        operation, module, size = name
        calls, moved, total_ns, longest_ns = durations.sums.row(name).tolist()
        cells = durations.cells[name]
        found = [_at_rank(name, cells, rank, details) for rank in _ranks(cells)]
        label = SIZE_LABELS[size] if size < len(SIZE_LABELS) else ""
        rows.append((operation, module, label, calls, moved, total_ns, total_ns / calls, *found, longest_ns))
    return pd.DataFrame(rows, columns=list(LATENCY_COLUMNS))


def _ranks(cells: CountedValues) -> list[int]:
    return [max(0, int(np.ceil(share / 100 * cells.total)) - 1) for share in PERCENTILES]


def _at_rank(name: Any, cells: CountedValues, rank: int, details: DetailsPartial | None) -> int:
    cell, before = cells.at_rank(rank)
    exact = None if details is None else details.durations.get((name, cell))
    if exact is None:
        return int(cell_start_ns(np.array(cell)))
    return exact.at_rank(rank - before)[0]
