"""The files tables of all processes as record batches; those of many small processes come together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.sessions.process_data import ProcessData

# A batch of fewer rows waits for others; so many rows are handed on together.
SMALL, TOGETHER = 1_000, 50_000


@dataclass(frozen=True)
class FileBatch:
    """Rows of files tables.

    Attributes:
        rows: The rows, a pyarrow record batch.
        places: The places of the processes that they are of, each once, ascending.
        counts: How many rows each of these has, one after the other.
    """

    rows: Any
    places: Array
    counts: Array

    @property
    def parts(self) -> Iterator[tuple[int, slice]]:
        """Yield each process's place, and its rows."""
        ends = np.cumsum(self.counts)
        for place, first, last in zip(
            self.places.tolist(), (ends - self.counts).tolist(), ends.tolist(), strict=True
        ):
            yield place, slice(first, last)

    def by_process(self, values: Array) -> Array:
        """Add up values of rows, process by process."""
        if len(self.counts) == 1:
            return np.array([values.sum()])
        reached = np.concatenate([[0], np.cumsum(values)])
        ends = np.cumsum(self.counts)
        return reached[ends] - reached[ends - self.counts]


def file_batches(
    processes: Sequence[ProcessData], wanted: Callable[[str], bool], apart: int = 0
) -> Iterator[FileBatch]:
    """Read columns of the files tables, in the order of the processes.

    Args:
        processes: The processes.
        wanted: Says of a column whether it is read.
        apart: No batch has rows both of the first so many processes and of others.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    waiting: list[tuple[int, Any]] = []
    rows = 0
    for place, process in enumerate(processes):
        for batch in process.batches("files", wanted):
            small = batch.num_rows < SMALL and rows + batch.num_rows <= TOGETHER
            small = small and not (waiting and waiting[0][0] < apart <= place)
            if waiting and not (small and waiting[0][1].schema.equals(batch.schema)):
                yield _together(waiting)
                waiting, rows = [], 0
            waiting.append((place, batch))
            rows += batch.num_rows
    if waiting:
        yield _together(waiting)


def _together(waiting: Sequence[tuple[int, Any]]) -> FileBatch:
    places, first = np.unique([place for place, _ in waiting], return_index=True)
    counts = np.add.reduceat([batch.num_rows for _, batch in waiting], first)
    if len(waiting) == 1:
        return FileBatch(waiting[0][1], places, counts)
    table = pa.Table.from_batches([batch for _, batch in waiting]).combine_chunks()
    columns = [_single(column) for column in table.columns]
    return FileBatch(pa.RecordBatch.from_arrays(columns, schema=table.schema), places, counts)


def _single(column: Any) -> Any:
    """Return a column of one chunk, or of none, as an array."""
    return column.chunk(0) if column.num_chunks else pa.array([], column.type)
