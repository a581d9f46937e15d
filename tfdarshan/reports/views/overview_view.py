"""The first view: how much, how long, how much of it was seen, from where it came."""

from __future__ import annotations

from tfdarshan.analysis.calls.wall_clock import WallClock
from tfdarshan.analysis.files.coverage import Direction
from tfdarshan.analysis.files.rereads import Rereads
from tfdarshan.analysis.ranks.process_list import ProcessEntry
from tfdarshan.analysis.steps.step_time import step_summary
from tfdarshan.analysis.storage.storage_share import storage_share
from tfdarshan.analysis.summary_data import SummaryData, slowed_calls
from tfdarshan.reports.figures.distribution import shares_figure
from tfdarshan.reports.figures.over_time import bandwidth_figure
from tfdarshan.reports.figures.theme import CACHED, EMPTY, READ, STORED, UNSEEN
from tfdarshan.reports.figures.time_marks import wait_shapes, with_time_bands
from tfdarshan.reports.text.ended_text import ended_sentence
from tfdarshan.reports.text.own_cost_text import own_cost_sentences
from tfdarshan.reports.text.process_text import hidden_text, kinds_text
from tfdarshan.reports.text.summary_text import told_apart
from tfdarshan.reports.views.log_view import log_panels
from tfdarshan.reports.views.mapped_table import at_least_duration, mapped_panels
from tfdarshan.reports.views.panel import (
    Cell,
    Chart,
    Panel,
    Table,
    Text,
    Tile,
    Tiles,
    duration,
    number,
    rate,
    size,
)
from tfdarshan.reports.views.view_source import MOST_FILES, NO_TRACE, Source
from tfdarshan.reports.views.wait_tile import wait_tile
from tfdarshan.units import percent, percent_at_most, plural

MOST_PROCESSES = 50
ADDING_UP = "Adding up the time and the files of {calls} ..."
UNCOUNTED = (
    "No figure of the kernel's counts {processes}: killed, or still running, or another program, and not "
    "waited for. What was not seen is at least this much."
)


def overview_view(source: Source) -> list[Panel]:
    """Return its panels."""
    panels: list[Panel] = [*_warnings(source), Tiles(_tiles(source)), _bandwidth(source)]
    if source.process is None:
        cost = source.summary.own_cost
        panels += [*_ranks(source), *_shares(source), *log_panels(source)]
        panels += [] if cost is None else [Text([own_cost_sentences(cost)])]
    panels += _processes(source.summary.process_list)
    panels += mapped_panels(source.summary.mapped)
    panels += [
        _entries("slowest", "Slowest files", source.summary, "time in calls", slowest=True),
        _entries("most-read", "Most-read files", source.summary, "time in reads", slowest=False),
    ]
    return panels


def beginning_panels(source: Source) -> list[Panel]:
    """Return what of it no table has to be read for."""
    metas = source.session.meta
    start_ns = min(meta["start_ns"] for meta in metas)
    end_ns = max(meta["start_ns"] + meta["duration_ns"] for meta in metas)
    tiles = [
        Tile("Session", duration((end_ns - start_ns) / 1e9), _whose(source)),
        Tile("Calls", number(source.calls)),
    ]
    if len(metas) == 1:
        tiles.insert(1, Tile("Files", number(int(metas[0]["counts"]["files"]))))
    return [Text([ADDING_UP.format(calls=plural(source.calls, "call"))]), Tiles(tiles)]


def bandwidth_panels(source: Source) -> list[Panel]:
    """Return what of it neither calls nor files have to be read for."""
    return [*beginning_panels(source), _bandwidth(source)]


def _whose(source: Source) -> str:
    """Count the processes; of a job the ranks and their hosts, too."""
    counted = plural(len(source.processes), "process", "processes")
    joint = source.session.joint
    if joint is None:
        return counted
    return f"{plural(len(joint.ranks), 'rank')} on {plural(len(joint.hosts), 'host')}, {counted}"


def _ranks(source: Source) -> list[Panel]:
    table = source.summary.ranks
    if table is None:
        return []
    columns = [("rank", "number"), ("host", "text"), ("waits a step", "number"), ("a step", "number"),
               ("read", "number"), ("in calls", "number"), ("input files", "number")]  # fmt: skip
    rows = [
        [
            number(row.rank),
            Cell(row.host),
            duration(row.wait_s),
            duration(row.step_s),
            size(row.bytes_read),
            duration(row.io_s),
            number(row.files),
        ]
        for row in table.ranks
    ]
    return [Table("ranks", "Ranks", columns, rows)]


def _bandwidth(source: Source) -> Panel:
    title = "Bandwidth over time"
    if not source.timed:
        return Text([NO_TRACE], title)
    note = f"A call's bytes are spread over its duration. {source.about_sums('bytes per second are')}".strip()
    if len(source.marks):
        note += " Dotted lines: starts of bursts of writes."
    if wait_shapes(source.step_bounds):
        note += " Red shading: steps waiting for input."
    drawn = bandwidth_figure(source.bandwidth, source.step_bounds, source.marks)
    return Chart("bandwidth", title, with_time_bands(drawn, source.bands), note)


def _tiles(source: Source) -> list[Tile]:
    data = source.summary
    clock, posix, stdio = data.wall_clock, data.posix, data.stdio
    read, written = data.bytes_read, data.bytes_written
    tiles = [
        Tile("Session", duration(data.duration_s), f"{plural(data.processes, 'process', 'processes')}"),
        Tile("Time in I/O", duration(clock.io_s), _io_share(clock, data.duration_s)),
        Tile("Read", size(read), _rate_text(read, clock.read_s, "while reading", clock.at_least)),
        Tile("Written", size(written), _rate_text(written, clock.write_s, "while writing", clock.at_least)),
        Tile("Files", _files(data), plural(posix.opens + stdio.opens, "open")),
        Tile("Calls", number(data.calls), _depth(clock)),
    ]
    if data.mapped.files:
        # The times of several files, read by several threads, are more than a clock shows.
        share = "of all processes" if data.processes > 1 else "added up over files"
        if data.mapped.at_least:
            share = "a lower bound: see what limits this session"
        elif data.processes == data.mapped.files == 1:
            share = _share(data.mapped.fault_s, data.duration_s, "of the session")
        tiles.insert(
            2, Tile("In page faults", at_least_duration(data.mapped.fault_s, data.mapped.at_least), share)
        )
    if data.files <= MOST_FILES or "files" in source.__dict__:
        tiles.append(_read_again(source.rereads))
    if len(source.step_bounds):
        whole = step_summary(source.step_bounds)
        note = _share(whole.input_wait_s, whole.span_s, "of step time") or "steps do not say it: see Findings"
        tiles.insert(2, wait_tile(whole, note))
    if posix.zero_length_reads:
        note = _share(posix.zero_length_reads, posix.reads, "of reads")
        tiles.append(Tile("Zero-length reads", number(posix.zero_length_reads), note))
    return tiles


def _files(data: SummaryData) -> Cell:
    counted = number(data.files)
    return Cell(f">= {counted.text}", data.files_words) if data.files_over_cap else counted


def _read_again(again: Rereads) -> Tile:
    if not again.size_bytes:
        why = "no size of a file read is known" if again.unknown_size_bytes else "no input was read"
        return Tile("Read again", Cell("-"), why)
    most = "" if again.placed else "at most "
    exact = f"{again.all_bytes_read:,} B of input read, {most}{again.unique_bytes:,} B of it once"
    return Tile("Read again", Cell(f"{again.passes:.2f}x", exact), "bytes of input read over its size")


def _share(part: float | None, whole: float, of: str) -> str:
    return "" if part is None else f"{percent(part, whole)} {of}"


def _io_share(clock: WallClock, duration_s: float) -> str:
    if clock.io_s is None:
        return ""
    return f"{(percent if clock.exact else percent_at_most)(clock.io_s, duration_s)} of the session"


def _rate_text(moved: int, seconds: float | None, when: str, bound: str) -> str:
    return f"{bound}{rate(moved, seconds).text} {when}" if moved and seconds else ""


def _depth(clock: WallClock) -> str:
    if not clock.thread_s or not clock.io_s:
        return ""
    return f"{clock.at_least}{clock.thread_s / clock.io_s:.1f} at a time"


def _shares(source: Source) -> list[Panel]:
    """Draw coverage and the split between storage and page cache, where the kernel's figures are known."""
    coverage = source.summary.coverage
    bars = [
        (name, _parts(direction))
        for name, direction in (("read", coverage.read), ("written", coverage.written))
        if direction.kernel
    ]
    panels: list[Panel] = []
    if bars and not coverage.incomplete:
        left_out = coverage.processes_left_out
        note = ", ".join(
            f"{name} {coverage.seen(d)}"
            for name, d in (("read", coverage.read), ("written", coverage.written))
            if d.kernel
        )
        if left_out:
            note += f". {UNCOUNTED.format(processes=plural(left_out, 'process', 'processes'))}"
        note = " ".join([note if note.endswith(".") else f"{note}.", *coverage.unrecorded.sentences])
        title = "Coverage: what was seen of what the kernel charged"
        panels.append(Chart("coverage", title, shares_figure(bars), note, half=True))
    split = storage_share(coverage)
    # What is under emulated storage says nothing of it.
    if slowed_calls(source.emulation):
        return panels
    if split.asked_bytes and split.storage_bytes is not None and split.cached_bytes is not None:
        parts = [
            ("from storage", STORED, min(split.storage_bytes, split.asked_bytes)),
            ("from the page cache", CACHED, split.cached_bytes),
        ]
        note = (
            f"Of {split.asked_bytes:,} bytes, all that the job read, {split.storage_bytes:,} came from "
            "storage, in whole pages, with read-ahead and page faults (rchar and read_bytes of /proc/PID/io)."
        )
        title = "Reads: storage or page cache"
        panels.append(Chart("storage", title, shares_figure([("read", parts)]), note, half=True))
    return panels


def _parts(direction: Direction) -> list[tuple[str, str, int]]:
    return [
        ("in the tables", READ, direction.in_tables),
        ("other traffic (pipes, sockets, excluded)", EMPTY, sum(direction.elsewhere.values())),
        ("not seen", UNSEEN, direction.unseen or 0),
    ]


def _entries(key: str, title: str, data: SummaryData, heading: str, *, slowest: bool) -> Table:
    """List files, by process and kind of call: each row says what tells it from others of its file."""
    columns = [
        ("file", "text"),
        (heading, "number"),
        ("reads", "number"),
        ("read", "number"),
        ("size", "number"),
    ]
    rows = [
        [
            Cell(entry.path + told_apart(entry, data), entry.path, ("file", entry.path)),
            duration(entry.time_s if slowest else entry.read_s),
            number(entry.reads),
            size(entry.bytes_read),
            size(entry.size_bytes if entry.size_bytes >= 0 else None),
        ]
        for entry in (data.slowest_files if slowest else data.most_read_files)
    ]
    return Table(key, title, columns, rows, half=True)


def _processes(entries: list[ProcessEntry]) -> list[Panel]:
    """List the processes by role; nothing of a single one."""
    if len(entries) < 2:
        return []
    columns = [
        ("process", "text"),
        ("host and number", "text"),
        ("threads", "number"),
        ("calls", "number"),
        ("read", "number"),
        ("written", "number"),
        ("recorded", "number"),
    ]
    shown = [entry for entry in entries if not entry.hidden]
    rows = [
        [
            Cell(entry.label),
            Cell(entry.name),
            number(entry.threads),
            number(entry.calls),
            size(entry.bytes_read),
            size(entry.bytes_written),
            duration(entry.duration_s),
        ]
        for entry in shown[:MOST_PROCESSES]
    ]
    notes = [f"the first {MOST_PROCESSES} of {len(shown):,}"] if len(shown) > MOST_PROCESSES else []
    notes += [f"not listed: {hidden_text(entries)}"] if len(shown) < len(entries) else []
    return [Table("processes", f"Processes: {kinds_text(entries)}", columns, rows, "; ".join(notes))]


def _warnings(source: Source) -> list[Panel]:
    data = source.summary
    lines = [f"{bound}." for bound in data.bounds] + list(data.problems)
    if not data.finished:
        lines.insert(0, ended_sentence(data))
    panels: list[Panel] = [Text(lines, "Bounds and problems", tone="warning")] if lines else []
    if data.not_known:
        panels.append(
            Text(data.not_known, "Not known, for the log does not say", folded=len(data.not_known) > 1)
        )
    return panels
