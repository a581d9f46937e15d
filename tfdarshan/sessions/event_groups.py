"""Row groups of events tables: when their calls ran, by their statistics."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tfdarshan.sessions.known_footers import KnownFooters
from tfdarshan.sessions.opened_table import opened_table
from tfdarshan.sessions.table_check import check_columns

# Where nothing says when a call ran: it may have been at any time.
EVER_NS = 1 << 62
TIMES = ("start_ns", "end_ns")
# Tables from this size on have an end that is worth keeping in mind.
LARGE_TABLE_BYTES = 16 << 20
FOOTERS = KnownFooters()


@dataclass(frozen=True)
class GroupSpan:
    """A row group: how many calls, when the first and the last of them began, when the last one ended."""

    calls: int
    first_ns: int
    last_start_ns: int
    last_ns: int

    def later(self, shift_ns: int) -> GroupSpan:
        """Return it with its times moved."""
        moved = (ns + shift_ns for ns in (self.first_ns, self.last_start_ns, self.last_ns))
        return GroupSpan(self.calls, *moved)


def span_of(rows: Any) -> GroupSpan:
    """Return when the calls of a record batch ran, which has any, and the columns TIMES."""
    start_ns, end_ns = (rows.column(name).to_numpy() for name in TIMES)
    return GroupSpan(len(start_ns), int(start_ns.min()), int(start_ns.max()), int(end_ns.max()))


@contextmanager
def opened_events(path: Path, columns: Collection[str] = ()) -> Iterator[tuple[Any, Sequence[GroupSpan]]]:
    """Open an events table, and return when the calls of its row groups ran; a large one's end is read once.

    Args:
        path: The file.
        columns: What it has to have besides times.

    Raises:
        Exception: One of `arrow_errors`, if it is damaged or missing.
    """

    def read() -> tuple[Any, Sequence[GroupSpan]]:
        with opened_table(path) as file:
            check_columns("events", file.schema_arrow, TIMES)
            return file.metadata, _group_spans(file.metadata)

    if path.stat().st_size >= LARGE_TABLE_BYTES:
        metadata, spans = FOOTERS.get(path, read)
        with opened_table(path, metadata) as file:
            check_columns("events", file.schema_arrow, {*columns, *TIMES})
            yield file, spans
    else:
        with opened_table(path) as file:
            check_columns("events", file.schema_arrow, {*columns, *TIMES})
            yield file, _group_spans(file.metadata)


def groups_within(spans: Sequence[GroupSpan], windows_ns: Sequence[tuple[int, int]] | None) -> list[int]:
    """List the row groups whose calls may have been running in a window, by their statistics."""
    if windows_ns is None:
        return list(range(len(spans)))
    return [
        group
        for group, span in enumerate(spans)
        if any(span.first_ns < until_ns and span.last_ns >= from_ns for from_ns, until_ns in windows_ns)
    ]


def _group_spans(metadata: Any) -> list[GroupSpan]:
    places = {metadata.schema.column(place).name: place for place in range(metadata.num_columns)}

    def bounds(group: Any, name: str) -> tuple[int, int]:
        found = group.column(places[name]).statistics
        return (found.min, found.max) if found is not None and found.has_min_max else (-EVER_NS, EVER_NS)

    spans = []
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        spans.append(GroupSpan(group.num_rows, *bounds(group, "start_ns"), bounds(group, "end_ns")[1]))
    return spans
