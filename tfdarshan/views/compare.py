"""Two sessions side by side."""

from __future__ import annotations

from collections.abc import Callable

from tfdarshan.analysis.rereads import rereads
from tfdarshan.figures.distribution import ratio_figure
from tfdarshan.views.panel import Cell, Chart, Panel, Table, bytes_per_s, duration, number, size
from tfdarshan.views.source import Source

# A change of this share or more is highlighted.
NOTABLE = 0.05
Worded = Callable[[float | None], Cell]


def compare_view(first: Source, second: Source) -> list[Panel]:
    """Gives the figures of both sessions, and second over first."""
    before, after = _figures(first), _figures(second)
    rows, names, old, new = [], [], [], []
    for (name, value, worded), (_, other, _) in zip(before, after, strict=True):
        rows.append([Cell(name), worded(value), worded(other), _change(value, other)])
        if value and other:
            names.append(name)
            old.append(value)
            new.append(other)
    columns = [
        ("", "text"),
        (first.summary.session, "number"),
        (second.summary.session, "number"),
        ("change", "number"),
    ]
    return [
        Table("compare", "Both sessions", columns, rows),
        Chart("ratios", "Second session over first", ratio_figure(names, old, new)),
    ]


def _figures(source: Source) -> list[tuple[str, float | None, Worded]]:
    data = source.summary
    clock, posix, stdio = data.wall_clock, data.posix, data.stdio
    read, written = posix.bytes_read + stdio.bytes_read, posix.bytes_written + stdio.bytes_written
    return [
        ("duration", data.duration_s, duration),
        ("time in I/O", clock.io_s, duration),
        ("time in reads", clock.read_s, duration),
        ("time in writes", clock.write_s, duration),
        ("time in open, stat, close", clock.meta_s, duration),
        ("thread time in calls", clock.thread_s, duration),
        ("bytes read", read, size),
        ("bytes written", written, size),
        ("read bandwidth", read / clock.read_s if clock.read_s else None, bytes_per_s),
        ("write bandwidth", written / clock.write_s if clock.write_s else None, bytes_per_s),
        ("files", data.files, number),
        ("opens", posix.opens + stdio.opens, number),
        ("reads", posix.reads + stdio.reads, number),
        ("zero-length reads", posix.zero_length_reads, number),
        ("writes", posix.writes + stdio.writes, number),
        (
            "passes over files",
            rereads(source.files).passes,
            lambda v: Cell("-" if v is None else f"{v:.2f}x"),
        ),
        ("from storage (read_bytes)", data.coverage.read.storage, size),
    ]


def _change(before: float | None, after: float | None) -> Cell:
    if before is None or after is None:
        return Cell("-")
    if before == after:
        return Cell("same")
    if not before:
        return Cell("new", "notable")
    change = after / before - 1
    return Cell(f"{100 * change:+.1f} %", "notable" if abs(change) >= NOTABLE else f"{after - before:+,.6g}")
