"""Words a session's summary: data in, text out, at most 100 columns wide."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from tfdarshan.analysis.access_sizes import SizeBucket
from tfdarshan.analysis.coverage import Coverage, Direction
from tfdarshan.analysis.file_totals import FileEntry
from tfdarshan.analysis.process_list import labels_by_pid
from tfdarshan.analysis.summary_data import ModuleCalls, SummaryData, slowed_calls
from tfdarshan.analysis.wall_clock import WallClock
from tfdarshan.file_name import printable
from tfdarshan.recording.libdarshan.cross_check import sentence
from tfdarshan.reports.text.layers_text import layer_lines, not_known_line
from tfdarshan.reports.text.mapped_text import mapped_lines
from tfdarshan.reports.text.process_text import kinds_text, process_lines
from tfdarshan.reports.text.ranks_text import rank_lines
from tfdarshan.sessions.overlap import overlap_lines
from tfdarshan.terminal.columns import Columns
from tfdarshan.terminal.paint import WIDTH
from tfdarshan.units import exact_bytes, human_bytes, human_rate, human_seconds, percent, plural, shortened

BAR_WIDTH = 16
MOST_RANKS = 64
TIMES = Columns("  ", -22, 17, 11, "   ", 0)
SIZES = Columns(-22, 12, 9, " ", -BAR_WIDTH, "  ", 12, 9, " ", 0)
PATTERN = Columns("  ", -20, 12, 9, " sequential", 9, " consecutive")
SLOWEST = Columns(12, 11, 11, 12, 11)
MOST_READ = Columns(12, 11, 11, 12, 11)
EMPTY_READS = Columns("  ", -20, 12, "   ", 0)
FAILURES = Columns("  ", -12, " ", -34, " ", 0)
COVERAGE = Columns("  ", -9, 0)
DIFFERENCES = Columns("    ", -18, 0)
COVERAGE_PARTS = Columns("    ", -38, 0)

# The rank of what all ranks of a Darshan log share.
SHARED = -1
# From this share on, the bytes not seen have a line of their own.
NOT_SEEN = 0.1
# What is not seen of a smaller share of the bytes needs no explanation.
WORTH_SAYING = 0.001
RARE_CALLS = ("  of them zero-length", "seeks", "stats", "syncs and flushes")

KIND_NAMES = {
    "excluded": "files left out by patterns",
    "pipe": "pipes",
    "socket": "sockets",
    "device": "terminals and devices",
    "anonymous": "memory files and event descriptors",
    "unknown": "descriptors of unknown kind",
    "skipped": "calls made by signal handlers inside the recorder",
}


def render(data: SummaryData, answer: Sequence[str] = ()) -> str:
    """Gives all of the summary as text, ending in a newline.

    Args:
        data: What it says.
        answer: The lines that come first.
    """
    sections = [
        list(answer),
        _header(data),
        rank_lines(data.ranks, MOST_RANKS),
        _calls(data),
        _time(data),
        process_lines(data.process_list),
        _sizes(data.sizes),
        _pattern(data),
        _slowest(data),
        _most_read(data),
        mapped_lines(data.mapped),
        _failures(data),
        # Nothing says what the kernel charged to the job of an imported log.
        _coverage(data.coverage) if not data.not_known else [],
        _verify(data),
        layer_lines(data.log),
        _notes(data),
        _not_known(data),
    ]
    return "\n\n".join("\n".join(section) for section in sections if section) + "\n"


def _header(data: SummaryData) -> list[str]:
    engine = " ".join(filter(None, (data.engine.get("name"), data.engine.get("version"))))
    duration = human_seconds(data.duration_s)
    more = plural(data.silent_children, "more child", "more children") if data.silent_children else ""
    about = [kinds_text(data.process_list), f"{more} made no calls" if more else ""]
    processes = plural(data.processes, "process", "processes")
    processes += f" ({'; '.join(filter(None, about))})" if any(about) else ""
    counts = (
        processes,
        plural(data.threads, "thread") if data.threads is not None else "",
        plural(data.files, "file"),
        plural(data.calls, "call"),
    )
    lines = [
        printable(f"tfdarshan session {data.session}, {duration} on {data.host}, engine {engine}"),
        *textwrap.wrap(", ".join(filter(None, counts)), WIDTH, break_on_hyphens=False),
    ]
    if data.command:
        command = printable(data.command)
        command = command if len(command) < WIDTH else command[: WIDTH - 4] + " ..."
        lines.append(command)
    lines.append(f"in {printable(data.path)}")
    lines += overlap_lines([Path(path) for path in data.overlapping_sessions])
    if data.emulation is not None:
        as_if = emulated_as(data.emulation, WIDTH - 42)
        lines += [f"{emulated_title(data.emulation).upper()}: {as_if}", emulated_times(data.emulation)]
    if not data.finished:
        lines.append(
            "The process ended without stopping the session: this is what it had recorded until then."
        )
    if data.trace_span is not None:
        lines += textwrap.wrap(data.trace_span.sentence, WIDTH)
    return lines


def emulated_title(emulation: dict[str, Any]) -> str:
    """Says whether storage was emulated."""
    return "Emulated storage" if slowed_calls(emulation) else "Nothing emulated"


def emulated_as(emulation: dict[str, Any], most_characters: int) -> str:
    """Says which storage was emulated for which paths, in so many characters at most."""
    paths = emulation["paths"]
    where = shortened(printable(", ".join(paths)), most_characters) if paths else "all recorded files"
    return f"as if {emulation['model']['name']}, for {where}"


def emulated_times(emulation: dict[str, Any]) -> str:
    """Says that times are a model's, and of how many calls where that is known."""
    if not slowed_calls(emulation):
        return "It slowed no call: times are this storage's own."
    times = "Times are a model's, not this storage's"
    if "delayed_ns" not in emulation:
        return f"{times}."
    waited = human_seconds(emulation["delayed_ns"] / 1e9)
    delayed = plural(emulation.get("delayed_calls", 0), "call")
    return f"{times}: {delayed} waited, {waited} over all threads."


def _calls(data: SummaryData) -> list[str]:
    in_kernel = bool(data.copies.get("reads") or data.copies.get("writes"))
    rows: list[tuple[str, list[int | None]]] = [
        (
            label,
            [getattr(data.posix, name), getattr(data.stdio, name), *([data.copies.get(copies)] * in_kernel)],
        )
        for label, name, copies in (
            ("opens", "opens", ""),
            ("reads", "reads", "reads"),
            ("  of them zero-length", "zero_length_reads", ""),
            ("writes", "writes", "writes"),
            ("seeks", "seeks", ""),
            ("stats", "stats", ""),
            ("syncs and flushes", "syncs", ""),
            ("bytes read", "bytes_read", "read_bytes"),
            ("bytes written", "bytes_written", "write_bytes"),
        )
    ]
    heads = ["POSIX", "STDIO", *(["in-kernel copies"] * in_kernel)]
    # A column of zeros would say that a module which the log does not have had no calls.
    kept = [place for place, head in enumerate(heads) if not data.log.modules or head in data.log.modules]
    columns = Columns(-22, *([19] * len(kept)), "   ", 0)
    lines = [columns.row("Calls", *(heads[place] for place in kept))]
    for label, counts in rows:
        if label in RARE_CALLS and not any(counts):
            continue
        total = sum(count or 0 for count in counts)
        in_all = f"{human_bytes(total)} in all" if label.startswith("bytes") and total else ""
        cells = ("" if (count := counts[place]) is None else count for place in kept)
        lines.append(columns.row(f"  {label}", *cells, in_all))
    mapped = "" if data.mmap_bytes is None else f" of {exact_bytes(data.mmap_bytes)}"
    extra = [
        (data.mmaps, "mmap", mapped),
        (data.renames, "rename", ""),
        (data.unlinks, "unlink", ""),
        (data.truncates, "truncate", ""),
    ]
    said = [plural(count, noun) + more for count, noun, more in extra if count]
    return [*lines, f"  also {', '.join(said)}"] if said else lines


def _time(data: SummaryData) -> list[str]:
    clock = data.wall_clock
    if clock.io_s is None:
        return _file_time(data)
    read, written = _moved(data, "read"), _moved(data, "write")
    rows = (
        ("any call", clock.io_s, ""),
        ("reads", clock.read_s, _at_rate(read, clock.read_s, clock.at_rate)),
        ("writes", clock.write_s, _at_rate(written, clock.write_s, clock.at_rate)),
        ("open, stat, close ...", clock.meta_s, ""),
    )
    lines = ["Time in I/O (wall clock: at least one such call was running)"]
    for label, seconds, moved in rows:
        lines.append(_wall_time_row(label, seconds, clock, moved))
    if clock.io_s > 0 and clock.thread_s is not None:
        concurrency = f"{clock.at_least}{clock.thread_s / clock.io_s:.1f} calls at a time on average"
        lines.append(TIMES.row("summed over threads", human_seconds(clock.thread_s), "", concurrency))
    return lines


def _file_time(data: SummaryData) -> list[str]:
    """Words what an imported log says: times per file, and wall-clock time where its trace is complete."""
    clock, files = data.wall_clock, data.file_time
    read, written = _moved(data, "read"), _moved(data, "write")
    lines = ["Time in calls (summed over files: a moment counts as often as files were busy in it)"]
    for label, seconds, moved in (
        ("reads", files.read_s, _of_files(read, files.read_s, data)),
        ("writes", files.write_s, _of_files(written, files.write_s, data)),
        ("open, stat, close ...", files.meta_s, ""),
    ):
        lines.append(TIMES.row(label, human_seconds(seconds), "", moved if seconds else ""))
    for label, wall_s, moved in (
        ("reads, wall clock", clock.read_s, _at_rate(read, clock.read_s, clock.at_rate)),
        ("writes, wall clock", clock.write_s, _at_rate(written, clock.write_s, clock.at_rate)),
    ):
        if wall_s:
            lines.append(_wall_time_row(label, wall_s, clock, moved))
    return lines


def _wall_time_row(label: str, seconds: float | None, clock: WallClock, moved: str) -> str:
    if seconds is None:
        return TIMES.row(label, "unknown")
    share = percent(seconds, clock.duration_s)
    bound = clock.at_most if seconds else ""
    return TIMES.row(label, bound + human_seconds(seconds), share, moved if seconds else "")


def _at_rate(moved: int, seconds: float | None, at: str = " at ") -> str:
    return "" if seconds is None else f"{human_bytes(moved)}{at}{human_rate(moved, seconds)}"


def _of_files(moved: int, summed_s: float, data: SummaryData) -> str:
    """Words a bandwidth: that of one process while it is in such calls, of several that of the whole run.

    Times of ranks add up: over them a job would seem as slow as one of its ranks.
    """
    if data.processes == 1:
        return _at_rate(moved, summed_s)
    return f"{human_bytes(moved)}, {human_rate(moved, data.duration_s)} over the run"


def _moved(data: SummaryData, direction: str) -> int:
    suffix = "bytes_read" if direction == "read" else "bytes_written"
    modules: tuple[ModuleCalls, ...] = (data.posix, data.stdio)
    moved: int = sum(getattr(module, suffix) for module in modules)
    return moved + data.copies.get(f"{direction}_bytes", 0)


def _sizes(buckets: Sequence[SizeBucket]) -> list[str]:
    reads, writes = sum(bucket.reads for bucket in buckets), sum(bucket.writes for bucket in buckets)
    if not reads and not writes:
        return []
    lines = [SIZES.row("Access sizes (POSIX)", "reads", "", "", "writes")]
    for bucket in buckets:
        if bucket.reads or bucket.writes:
            cells = (*_bar_cells(bucket.reads, reads), *_bar_cells(bucket.writes, writes))
            lines.append(SIZES.row(f"  {bucket.label}", *cells))
    return lines


def _bar_cells(count: int, total: int) -> tuple[int | str, str, str]:
    if not count:
        return "", "", ""
    return count, percent(count, total), "#" * max(1, round(BAR_WIDTH * count / total))


def _pattern(data: SummaryData) -> list[str]:
    pattern = data.pattern
    if not pattern.reads_with_data and not pattern.writes and not pattern.zero_length_reads:
        return []
    lines = ["Access pattern (POSIX; sequential: after the last byte accessed, consecutive: right after it)"]
    reads = "reads with data" if pattern.zero_length_reads is not None else "reads, empty too"
    for label, total, sequential, consecutive in (
        (reads, pattern.reads_with_data, pattern.sequential_reads, pattern.consecutive_reads),
        ("writes", pattern.writes, pattern.sequential_writes, pattern.consecutive_writes),
    ):
        if total:
            lines.append(PATTERN.row(label, total, percent(sequential, total), percent(consecutive, total)))
    lines.append("  the first access after an open is neither, so a file read whole at once shows none")
    if pattern.zero_length_reads:
        about = "a class of their own: probes for the end of a file"
        lines.append(EMPTY_READS.row("zero-length reads", pattern.zero_length_reads, about))
    return lines


def _slowest(data: SummaryData) -> list[str]:
    head = SLOWEST.row("time", "read", "write", "open, stat", "bytes")
    return _entries(
        "Slowest files",
        head,
        data.slowest_files,
        data,
        lambda entry: SLOWEST.row(
            *map(human_seconds, (entry.time_s, entry.read_s, entry.write_s, entry.meta_s)),
            human_bytes(entry.bytes_read + entry.bytes_written),
        ),
    )


def _most_read(data: SummaryData) -> list[str]:
    head = MOST_READ.row("bytes read", "reads", "time", "bandwidth", "file size")
    return _entries(
        "Most-read files",
        head,
        data.most_read_files,
        data,
        lambda entry: MOST_READ.row(
            human_bytes(entry.bytes_read),
            entry.reads,
            human_seconds(entry.read_s),
            human_rate(entry.bytes_read, entry.read_s),
            human_bytes(entry.size_bytes) if entry.size_bytes >= 0 else "-",
        ),
    )


def _entries(
    title: str, head: str, entries: Iterable[FileEntry], data: SummaryData, cells: Callable[[FileEntry], str]
) -> list[str]:
    lines, labels = [], labels_by_pid(data.process_list)
    for entry in entries:
        where = " (STDIO)" if entry.module == "STDIO" else ""
        if data.processes > 1:
            where += f" ({printable(labels.get(entry.pid) or process_words(entry.pid))})"
        row = f"{cells(entry)}   "
        lines.append(row + shortened(printable(entry.path), WIDTH - len(row) - len(where)) + where)
    return [title, f"{head}   path", *lines] if lines else []


def process_words(pid: int) -> str:
    """Names a process; what all ranks of an imported job share has the number -1."""
    return "all ranks" if pid == SHARED else f"process {pid}"


def _failures(data: SummaryData) -> list[str]:
    if not data.failures:
        return []
    lines = ["Failed calls"]
    for failure in data.failures:
        calls = ", ".join(f"{count:,} {operation}" for operation, count in failure.calls.items())
        lines.append(FAILURES.row(failure.name, os.strerror(failure.error), calls))
    return lines


def _coverage(coverage: Coverage) -> list[str]:
    if coverage.read.kernel is None:
        return ["Coverage: not known, the kernel's figures are missing"]
    lines = ["Coverage (what was seen, against what the kernel counted for the job)"]
    for label, direction, counter, storage in (
        ("read", coverage.read, "rchar", "read_bytes"),
        ("written", coverage.written, "wchar", "write_bytes"),
    ):
        of_programs = coverage.programs.bytes_read if label == "read" else 0
        bounded = coverage.processes_left_out > 0
        lines += _direction(label, direction, counter, storage, of_programs, bounded=bounded)
    if coverage.processes_left_out:
        lines += _left_out(coverage)
    if coverage.programs.made:
        sentence = coverage.programs.sentence
        lines += textwrap.wrap(sentence, WIDTH, initial_indent="  ", subsequent_indent="  ")
    if not _is_missed(coverage.read) and not _is_missed(coverage.written):
        return lines
    return [
        *lines,
        "  Unseen: what libc reads for itself (libraries, locales), STDIO reading ahead or writing late,",
        "  programs that are not Python (charged when they are waited for), pages touched through mmap.",
    ]


def _is_missed(direction: Direction) -> bool:
    return (direction.unseen or 0) > WORTH_SAYING * (direction.kernel or 0)


def _left_out(coverage: Coverage) -> list[str]:
    """Words why the bytes not seen are a lower bound."""
    one = coverage.processes_left_out == 1
    children = plural(coverage.processes_left_out, "child process", "child processes")
    moved = f"{exact_bytes(coverage.read.uncharged)} read, {exact_bytes(coverage.written.uncharged)} written"
    return [
        f"  No figure counts {children}: {'it was' if one else 'they were'} still running, or had become",
        "  another program by exec, and nobody had waited for it." if one else
        "  other programs by exec, and nobody had waited for them.",
        f"  The comparison leaves out what {'it' if one else 'they'} recorded ({moved}).",
    ]  # fmt: skip


def _direction(
    label: str, direction: Direction, counter: str, storage: str, of_programs: int, *, bounded: bool
) -> list[str]:
    kernel = direction.kernel or 0
    if not kernel and not direction.accounted:
        return [COVERAGE.row(label, f"nothing ({counter})")]
    bound = "at most " if bounded and direction.unseen else ""
    share = percent(min(direction.accounted, kernel), kernel)
    share = f"{bound}{share} of {exact_bytes(kernel)} ({counter})" if kernel else f"nothing ({counter})"
    lines = [
        COVERAGE.row(label, share),
        COVERAGE_PARTS.row("in the tables", exact_bytes(direction.in_tables)),
    ]
    if of_programs:
        lines.append(COVERAGE_PARTS.row("  of it modules, libraries, system", exact_bytes(of_programs)))
    for kind, count in sorted(direction.elsewhere.items(), key=lambda item: -item[1]):
        lines.append(COVERAGE_PARTS.row(KIND_NAMES.get(kind, kind), exact_bytes(count)))
    if direction.unseen and direction.unseen >= NOT_SEEN * kernel:
        lines.append(COVERAGE_PARTS.row("not seen, at least", exact_bytes(direction.unseen)))
    if direction.mapped is None or direction.mapped:
        known = "unknown (see mapped=True)" if direction.mapped is None else exact_bytes(direction.mapped)
        lines.append(COVERAGE_PARTS.row("also, through mappings", known))
    if direction.storage is not None:
        verb = "from" if label == "read" else "to"
        lines.append(COVERAGE_PARTS.row(f"{verb} storage ({storage})", exact_bytes(direction.storage)))
    return lines


def _verify(data: SummaryData) -> list[str]:
    lines = []
    for result in data.verify:
        agreement, _, kinds = sentence(result).partition("; ")
        lines.append(f"  {printable(agreement)}.")
        lines += [f"  {printable(kinds)}." if len(kinds) < WIDTH - 4 else "  Differences:"] if kinds else []
        lines += [
            printable(DIFFERENCES.row(entry["kind"], entry["meaning"]))[:WIDTH]
            for entry in result["differences"]
        ]
    return [f"Two counters (libdarshan {data.engine.get('version')}, builtin)", *lines] if lines else []


def _notes(data: SummaryData) -> list[str]:
    lines = [f"  {printable(bound)}." for bound in data.bounds]
    lines = ["Bounds reached", *lines] if lines else []
    problems = [f"  {printable(problem)}" for problem in data.problems]
    return lines + (["Not read", *problems] if problems else [])


def _not_known(data: SummaryData) -> list[str]:
    return textwrap.wrap(printable(not_known_line(data.not_known)), WIDTH, subsequent_indent="  ")
