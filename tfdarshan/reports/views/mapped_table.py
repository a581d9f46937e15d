"""The mapped files that were waited for longest, as a table of the overview and of the files."""

from __future__ import annotations

from tfdarshan.analysis.files.mapped_reads import MappedReads
from tfdarshan.reports.views.panel import Cell, Panel, Table, duration, number, size


def mapped_panels(mapped: MappedReads) -> list[Panel]:
    """List the mapped files that were waited for longest; nothing if none was watched."""
    if not mapped.files:
        return []
    columns = [("file", "text"), ("in page faults", "number"), ("slowest", "number"),
               ("page faults", "number"), ("bytes that came in", "number"), ("size", "number")]  # fmt: skip
    rows = [
        [
            Cell(one.path, one.path, ("file", one.path)),
            at_least_duration(one.fault_s, one.at_least),
            duration(one.longest_s),
            number(one.faults),
            size(one.bytes_in),
            size(one.size_bytes if one.size_bytes >= 0 else None),
        ]
        for one in mapped.slowest
    ]
    return [Table("mapped", "Mapped files (read by page faults, which are no calls)", columns, rows)]


def at_least_duration(seconds: float | None, at_least: bool) -> Cell:
    """Return seconds, or the least they were."""
    cell = duration(seconds)
    return Cell(f">= {cell.text}", f"at least {cell.exact}") if at_least and seconds is not None else cell
