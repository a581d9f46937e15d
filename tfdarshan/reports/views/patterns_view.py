"""How files are accessed: sizes, pattern, latency; tf-Darshan's panel, complete."""

from __future__ import annotations

from tfdarshan.analysis.files.access_sizes import file_sizes
from tfdarshan.analysis.files.read_passes import read_passes
from tfdarshan.analysis.summary_data import SummaryData, slowed_calls
from tfdarshan.reports.figures.distribution import (
    access_sizes_figure,
    file_sizes_figure,
    latency_figure,
    passes_figure,
    pattern_figure,
)
from tfdarshan.reports.views.emulation_view import NO_CACHE
from tfdarshan.reports.views.panel import Cell, Chart, Panel, Table, duration, number, rate, size
from tfdarshan.reports.views.view_source import Source


def patterns_view(source: Source) -> list[Panel]:
    """Return its panels."""
    data = source.summary
    spread = source.latency
    panels: list[Panel] = [
        _panel_of_the_paper(data),
        Chart(
            "access-sizes", "Sizes of reads and writes (POSIX)", access_sizes_figure(data.sizes), half=True
        ),
        Chart("file-sizes", "Sizes of files", file_sizes_figure(file_sizes(source.files)), half=True),
        Chart(
            "pattern",
            "Access pattern (POSIX)",
            pattern_figure(data.pattern),
            "Sequential: anywhere after the last byte accessed; consecutive: right after it. Zero-length "
            "reads, which Darshan counts as both, are a class of their own.",
            half=True,
        ),
    ]
    passes = read_passes(source.blocks, source.files)
    if len(passes):
        note = "A later pass that is much faster came from the page cache."
        if slowed_calls(source.emulation):
            note = NO_CACHE
        panels.append(
            Chart("passes", "First reading against later ones", passes_figure(passes), note, half=True)
        )
    if len(spread):
        panels.append(Chart("latency", "Latency by kind and size of call", latency_figure(spread)))
        panels.append(_latency_table(spread))
    return panels


def _panel_of_the_paper(data: SummaryData) -> Table:
    """Return what tf-Darshan's TensorBoard panel shows, for both modules."""
    clock, posix, stdio = data.wall_clock, data.posix, data.stdio
    read, written = data.bytes_read, data.bytes_written
    rows = [
        [Cell("opens"), number(posix.opens), number(stdio.opens)],
        [Cell("reads"), number(posix.reads), number(stdio.reads)],
        [Cell("of them zero-length"), number(posix.zero_length_reads), Cell("")],
        [Cell("writes"), number(posix.writes), number(stdio.writes)],
        [Cell("seeks"), number(posix.seeks), number(stdio.seeks)],
        [Cell("stats"), number(posix.stats), Cell("")],
        [Cell("bytes read"), size(posix.bytes_read), size(stdio.bytes_read)],
        [Cell("bytes written"), size(posix.bytes_written), size(stdio.bytes_written)],
    ]
    meanwhile = [
        f"while {what} {clock.at_least}{rate(moved, seconds).text}"
        for what, moved, seconds in (("reading", read, clock.read_s), ("writing", written, clock.write_s))
        if moved and seconds
    ]
    over_all = f"over the session {rate(read + written, data.duration_s).text}"
    note = f"Bandwidth {'; '.join(filter(None, (', '.join(meanwhile), over_all)))}."
    columns = [("calls", "text"), ("POSIX", "number"), ("STDIO", "number")]
    return Table("operations", "Operations and bandwidth", columns, rows, note)


def _latency_table(spread) -> Table:  # type: ignore[no-untyped-def]
    columns = [
        ("call", "text"),
        ("size", "text"),
        ("calls", "number"),
        ("bytes", "number"),
        ("thread time", "number"),
        ("half within", "number"),
        ("90 %", "number"),
        ("99 %", "number"),
        ("slowest", "number"),
    ]
    rows = [
        [
            Cell(row.operation),
            Cell(row.size),
            number(row.calls),
            size(row.bytes),
            duration(row.total_ns / 1e9),
            duration(row.p50_ns / 1e9),
            duration(row.p90_ns / 1e9),
            duration(row.p99_ns / 1e9),
            duration(row.max_ns / 1e9),
        ]
        for row in spread.itertuples()
    ]
    return Table("latencies", "Latency", columns, rows)
