"""Words a session's summary: data in, text out, at most 100 columns wide."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tfdarshan.analysis.calls.wall_clock import WallClock
from tfdarshan.analysis.files.access_sizes import SizeBucket
from tfdarshan.analysis.files.coverage import Coverage, Direction
from tfdarshan.analysis.files.file_totals import FileEntry
from tfdarshan.analysis.ranks.process_list import labels_by_pid
from tfdarshan.analysis.summary_data import SummaryData, slowed_calls
from tfdarshan.file_name import printable
from tfdarshan.reports.text.agreement_text import agreement_sentence
from tfdarshan.reports.text.command_text import as_typed
from tfdarshan.reports.text.ended_text import ended_sentence
from tfdarshan.reports.text.layers_text import layer_lines, not_known_line
from tfdarshan.reports.text.mapped_text import mapped_lines
from tfdarshan.reports.text.own_cost_text import own_cost_sentences
from tfdarshan.reports.text.process_text import kinds_text, process_lines
from tfdarshan.reports.text.ranks_text import rank_lines
from tfdarshan.sessions.overlap import overlap_lines
from tfdarshan.terminal.columns import Columns
from tfdarshan.terminal.layout import Layout, begun, fact_lines
from tfdarshan.terminal.paint import WIDTH
from tfdarshan.terminal.wrapping import wrap
from tfdarshan.units import exact_bytes, human_bytes, human_rate, human_seconds, percent, plural, shortened

BAR_WIDTH = 16
MOST_RANKS = 64
TIMES = Columns("  ", -22, 17, 11, "   ", 0)
SIZES = Columns(-22, 12, 9, " ", -BAR_WIDTH, "  ", 12, 9, " ", 0)
PATTERN = 20
FILES = Columns(12, 11, 11, 12, 11, "   ", 0)
FAILURES = Columns("  ", -12, " ", -34, " ", 0)
COVERAGE = 40
DIFFERENCES = Columns("    ", -18, 0)

# The rank of what all ranks of a Darshan log share.
SHARED = -1
# From this share on, the bytes not seen have a line of their own.
NOT_SEEN = 0.1
# What is not seen of a smaller share of the bytes needs no explanation.
WORTH_SAYING = 0.001
RARE_CALLS = ("  of them zero-length", "seeks", "stats", "syncs and flushes")

PATTERN_WORDS = (
    "sequential: begins after the end of the access before; consecutive: begins right there. The first "
    "access after an open is neither, so files that one call reads whole show 0.0 %."
)
UNSEEN = (
    "Unseen: what libc reads for itself (libraries, locales), STDIO reading ahead or writing late, programs "
    "that are not Python (charged when they are waited for; --programs records them), pages touched through "
    "mmap, functions called by an address from dlsym (as ctypes.CDLL does), libraries that dlmopen loaded."
)
INCOMPLETE = (
    "More was recorded than the kernel counted. Its count lacks processes that ended and that nobody waited "
    "for, so what was not seen is not known."
)
KIND_NAMES = {
    "excluded": "files left out by patterns",
    "pipe": "pipes",
    "socket": "sockets",
    "device": "terminals and devices",
    "anonymous": "memory files and event descriptors",
    "unknown": "descriptors of unknown kind",
    "skipped": "signal handlers inside the recorder",
}


def render(data: SummaryData, answer: Sequence[str] = (), width: int = WIDTH) -> str:
    """Return all of the summary as text, ending in a newline.

    Args:
        data: What it says.
        answer: The lines that come first.
        width: How many characters its tables may be wide.
    """
    sections = [
        list(answer),
        _header(data),
        rank_lines(data.ranks, MOST_RANKS, width),
        _calls(data, width),
        _time(data, width),
        process_lines(data.process_list, width),
        _sizes(data.sizes, width),
        _pattern(data, width),
        _slowest(data, width),
        _most_read(data, width),
        mapped_lines(data.mapped, width),
        _failures(data, width),
        # Nothing says what the kernel charged to the job of an imported log.
        _coverage(data.coverage, width) if not data.not_known else [],
        [] if data.own_cost is None else wrap(own_cost_sentences(data.own_cost), width, "  "),
        _verify(data),
        layer_lines(data.log, width),
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
        data.files_words,
        plural(data.calls, "call"),
    )
    lines = [
        printable(f"tfdarshan session {data.session}, {duration} on {data.host}, engine {engine}"),
        *textwrap.wrap(", ".join(filter(None, counts)), WIDTH, break_on_hyphens=False),
    ]
    if data.command:
        lines.append(begun(printable(as_typed(data.command)), WIDTH))
    lines.append(f"in {printable(data.path)}")
    lines += overlap_lines([Path(path) for path in data.overlapping_sessions])
    if data.emulation is not None:
        as_if = emulated_as(data.emulation, WIDTH - 42)
        lines += [f"{emulated_title(data.emulation).upper()}: {as_if}", emulated_times(data.emulation)]
    if not data.finished:
        lines += textwrap.wrap(ended_sentence(data), WIDTH)
    if data.trace_span is not None:
        lines += textwrap.wrap(data.trace_span.sentence, WIDTH)
    return lines


def emulated_title(emulation: dict[str, Any]) -> str:
    """Return whether storage was emulated."""
    return "Emulated storage" if slowed_calls(emulation) else "Nothing emulated"


def emulated_as(emulation: dict[str, Any], most_characters: int) -> str:
    """Return which storage was emulated for which paths, in so many characters at most."""
    paths = emulation["paths"]
    where = shortened(printable(", ".join(paths)), most_characters) if paths else "all recorded files"
    return f"as if {emulation['model']['name']}, for {where}"


def emulated_times(emulation: dict[str, Any]) -> str:
    """Say that times are simulated, and of how many calls where that is known."""
    if not slowed_calls(emulation):
        return "It slowed no call: times are this storage's own."
    times = "Times are simulated, not this storage's"
    if "delayed_ns" not in emulation:
        return f"{times}."
    waited = human_seconds(emulation["delayed_ns"] / 1e9)
    delayed = plural(emulation.get("delayed_calls", 0), "call")
    return f"{times}: {delayed} waited, {waited} over all threads."


def _calls(data: SummaryData, width: int) -> list[str]:
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
    table: list[list[int | str]] = [["Calls", *(heads[place] for place in kept), ""]]
    for label, counts in rows:
        if label in RARE_CALLS and not any(counts):
            continue
        total = sum(count or 0 for count in counts)
        in_all = f"{human_bytes(total)} in all" if label.startswith("bytes") and total else ""
        cells = ("" if (count := counts[place]) is None else count for place in kept)
        table.append([f"  {label}", *cells, in_all])
    lines = Layout(columns, table, width, least=[len(kept) + 1]).all_lines(table)
    mapped = "" if data.mmap_bytes is None else f" of {exact_bytes(data.mmap_bytes)}"
    extra = [
        (data.mmaps, "mmap", mapped),
        (data.renames, "rename", ""),
        (data.unlinks, "unlink", ""),
        (data.truncates, "truncate", ""),
    ]
    said = [plural(count, noun) + more for count, noun, more in extra if count]
    return [*lines, f"  also {', '.join(said)}"] if said else lines


def _time(data: SummaryData, width: int) -> list[str]:
    clock = data.wall_clock
    if clock.io_s is None:
        return _file_time(data, width)
    read, written = data.bytes_read, data.bytes_written
    rows = (
        ("any call", clock.io_s, ""),
        ("reads", clock.read_s, _at_rate(read, clock.read_s, clock.at_rate)),
        ("writes", clock.write_s, _at_rate(written, clock.write_s, clock.at_rate)),
        ("open, stat, close ...", clock.meta_s, ""),
    )
    table = [_wall_time_row(label, seconds, clock, moved) for label, seconds, moved in rows]
    if clock.io_s > 0 and clock.thread_s is not None:
        concurrency = f"{clock.at_least}{clock.thread_s / clock.io_s:.1f} calls at a time on average"
        table.append(("summed over threads", human_seconds(clock.thread_s), "", concurrency))
    title = wrap(
        "Time in I/O (at least one such call was running) and its share of the session", width, hang="  "
    )
    return [*title, *Layout(TIMES, table, width).all_lines(table)]


def _file_time(data: SummaryData, width: int) -> list[str]:
    """Word what an imported log says: times per file, and wall-clock time where its trace is complete."""
    clock, files = data.wall_clock, data.file_time
    read, written = data.bytes_read, data.bytes_written
    said = "Time in calls (summed over files: a moment counts as often as files were busy in it)"
    table = []
    for label, seconds, moved in (
        ("reads", files.read_s, _of_files(read, files.read_s, data)),
        ("writes", files.write_s, _of_files(written, files.write_s, data)),
        ("open, stat, close ...", files.meta_s, ""),
    ):
        table.append((label, human_seconds(seconds), "", moved if seconds else ""))
    for label, wall_s, moved in (
        ("reads, wall clock", clock.read_s, _at_rate(read, clock.read_s, clock.at_rate)),
        ("writes, wall clock", clock.write_s, _at_rate(written, clock.write_s, clock.at_rate)),
    ):
        if wall_s:
            table.append(_wall_time_row(label, wall_s, clock, moved))
    return [*wrap(said, width, hang="  "), *Layout(TIMES, table, width).all_lines(table)]


def _wall_time_row(
    label: str, seconds: float | None, clock: WallClock, moved: str
) -> tuple[str, str, str, str]:
    if seconds is None:
        return label, "unknown", "", ""
    share = percent(seconds, clock.duration_s)
    bound = clock.at_most if seconds else ""
    return label, bound + human_seconds(seconds), share, moved if seconds else ""


def _at_rate(moved: int, seconds: float | None, at: str = " at ") -> str:
    return "" if seconds is None else f"{human_bytes(moved)}{at}{human_rate(moved, seconds)}"


def _of_files(moved: int, summed_s: float, data: SummaryData) -> str:
    """Word a bandwidth: that of one process while it is in such calls, of several that of the whole run.

    Times of ranks add up: over them a job would seem as slow as one of its ranks.
    """
    if data.processes == 1:
        return _at_rate(moved, summed_s)
    return f"{human_bytes(moved)}, {human_rate(moved, data.duration_s)} over the run"


def _sizes(buckets: Sequence[SizeBucket], width: int) -> list[str]:
    reads, writes = sum(bucket.reads for bucket in buckets), sum(bucket.writes for bucket in buckets)
    if not reads and not writes:
        return []
    table: list[tuple[int | str, ...]] = [("Access sizes (POSIX)", "reads", "", "", "writes", "", "")]
    for bucket in buckets:
        if bucket.reads or bucket.writes:
            cells = (*_bar_cells(bucket.reads, reads), *_bar_cells(bucket.writes, writes))
            table.append((f"  {bucket.label}", *cells))
    return Layout(SIZES, table, width, least=(6, 3)).all_lines(table)


def _bar_cells(count: int, total: int) -> tuple[int | str, str, str]:
    if not count:
        return "", "", ""
    return count, percent(count, total), "#" * max(1, round(BAR_WIDTH * count / total))


def _pattern(data: SummaryData, width: int) -> list[str]:
    pattern = data.pattern
    if not pattern.reads_with_data and not pattern.writes and not pattern.zero_length_reads:
        return []
    facts = []
    reads = "reads with data" if pattern.zero_length_reads is not None else "reads, empty too"
    for label, total, sequential, consecutive in (
        (reads, pattern.reads_with_data, pattern.sequential_reads, pattern.consecutive_reads),
        ("writes", pattern.writes, pattern.sequential_writes, pattern.consecutive_writes),
    ):
        if total:
            shares = f"{percent(sequential, total)} sequential, {percent(consecutive, total)} consecutive"
            facts.append((label, f"{total:,}, {shares}"))
    if pattern.zero_length_reads:
        probes = "end-of-file checks, not among the reads above"
        facts.append(("zero-length reads", f"{pattern.zero_length_reads:,}, {probes}"))
    lines = ["Access pattern (POSIX)", *fact_lines(facts, width, PATTERN, "  ")]
    return [*lines, *wrap(PATTERN_WORDS, width, "  ")]


def _slowest(data: SummaryData, width: int) -> list[str]:
    table: list[tuple[int | str, ...]] = [("time", "read", "write", "open, stat", "bytes", "path")]
    for entry in data.slowest_files:
        times = map(human_seconds, (entry.time_s, entry.read_s, entry.write_s, entry.meta_s))
        table.append((*times, human_bytes(entry.bytes_read + entry.bytes_written), _name(entry, data)))
    return _files("Slowest files", table, width)


def _most_read(data: SummaryData, width: int) -> list[str]:
    table: list[tuple[int | str, ...]] = [
        ("bytes read", "reads", "time", "bandwidth", "file size", "path"),
        *(
            (
                human_bytes(entry.bytes_read),
                entry.reads,
                human_seconds(entry.read_s),
                human_rate(entry.bytes_read, entry.read_s),
                human_bytes(entry.size_bytes) if entry.size_bytes >= 0 else "-",
                _name(entry, data),
            )
            for entry in data.most_read_files
        ),
    ]
    return _files("Most-read files", table, width)


def _files(title: str, table: Sequence[tuple[int | str, ...]], width: int) -> list[str]:
    if len(table) == 1:
        return []
    return [title, *Layout(FILES, table, width, cut=shortened).all_lines(table)]


def _name(entry: FileEntry, data: SummaryData) -> str:
    return printable(entry.path) + told_apart(entry, data)


def told_apart(entry: FileEntry, data: SummaryData) -> str:
    """Return what tells a file's row from another of the same file: by which calls, of which process."""
    where = " (STDIO)" if entry.module == "STDIO" else ""
    if data.processes > 1:
        label = labels_by_pid(data.process_list).get(entry.pid) or process_words(entry.pid)
        where += f" ({printable(label)})"
    return where


def process_words(pid: int) -> str:
    """Name a process; what all ranks of an imported job share has the number -1."""
    return "all ranks" if pid == SHARED else f"process {pid}"


def _failures(data: SummaryData, width: int) -> list[str]:
    if not data.failures:
        return []
    table = [
        (
            failure.name,
            os.strerror(failure.error),
            ", ".join(f"{count:,} {operation}" for operation, count in failure.calls.items()),
        )
        for failure in data.failures
    ]
    return ["Failed calls", *Layout(FAILURES, table, width).all_lines(table)]


def _coverage(coverage: Coverage, width: int) -> list[str]:
    if coverage.read.kernel is None:
        return ["Coverage: not known, because the kernel's count (/proc/PID/io) could not be read"]
    title = "Coverage (what was seen, against what the kernel counted for the job)"
    lines = wrap(title, width, hang="  ")
    for label, direction, counter, storage in (
        ("read", coverage.read, "rchar", "read_bytes"),
        ("written", coverage.written, "wchar", "write_bytes"),
    ):
        of_programs = coverage.programs.bytes_read if label == "read" else 0
        parts = _direction(label, direction, counter, storage, of_programs, coverage)
        lines += fact_lines(parts, width, COVERAGE, "  ")
    if coverage.incomplete:
        lines += wrap(INCOMPLETE, width, "  ")
    if coverage.processes_left_out:
        lines += wrap(_left_out(coverage), width, "  ")
    both = coverage.read, coverage.written
    if any(_is_worth_saying(direction.earlier, direction) for direction in both):
        lines += wrap(_earlier(coverage), width, "  ")
    for said in coverage.unrecorded.sentences:
        lines += wrap(printable(said), width, "  ")
    if coverage.programs.made:
        lines += wrap(coverage.programs.sentence, width, "  ")
    missed = any(_is_worth_saying(direction.unseen, direction) for direction in both)
    return [*lines, *(wrap(UNSEEN, width, "  ") if missed else [])]


def _is_worth_saying(count: int | None, direction: Direction) -> bool:
    return (count or 0) > WORTH_SAYING * (direction.kernel or 0)


def _earlier(coverage: Coverage) -> str:
    """Word what children did before they were recorded."""
    moved = f"{exact_bytes(coverage.read.earlier)} read, {exact_bytes(coverage.written.earlier)} written"
    when = "before they joined the session, as they started or earlier"
    return f"The comparison leaves out what processes did {when} ({moved})."


def _left_out(coverage: Coverage) -> str:
    """Word why the bytes not seen are a lower bound."""
    one = coverage.processes_left_out == 1
    processes = plural(coverage.processes_left_out, "process", "processes")
    moved = f"{exact_bytes(coverage.read.uncharged)} read, {exact_bytes(coverage.written.uncharged)} written"
    running = (
        "it was killed, or still ran, or had become another program, and nobody had waited for it"
        if one
        else "they were killed, or still ran, or had become other programs, and nobody had waited for them"
    )
    left_out = f"The comparison leaves out what {'it' if one else 'they'} recorded ({moved})."
    return f"No figure counts {processes}: {running}. {left_out}"


def _direction(
    label: str, direction: Direction, counter: str, storage: str, of_programs: int, coverage: Coverage
) -> list[tuple[str, str]]:
    """Return what was seen of the bytes read or written, and the parts of it."""
    kernel = direction.kernel or 0
    if not kernel and not direction.accounted:
        return [(label, f"nothing ({counter})")]
    share = f"{coverage.seen(direction)} of {exact_bytes(kernel)} ({counter})"
    share = share if kernel or coverage.incomplete else f"nothing ({counter})"
    rows = [(label, share), ("  in the tables", exact_bytes(direction.in_tables))]
    if of_programs:
        rows.append(("    of it modules, libraries, system", exact_bytes(of_programs)))
    for kind, count in sorted(direction.elsewhere.items(), key=lambda item: -item[1]):
        rows.append((f"  {KIND_NAMES.get(kind, kind)}", exact_bytes(count)))
    if direction.unseen and direction.unseen >= NOT_SEEN * kernel:
        rows.append(("  not seen, at least", exact_bytes(direction.unseen)))
    if direction.mapped is None or direction.mapped:
        known = "unknown (see mapped=True)" if direction.mapped is None else exact_bytes(direction.mapped)
        rows.append(("  also, through mappings", known))
    if direction.storage is not None:
        verb = "from" if label == "read" else "to"
        rows.append((f"  {verb} storage ({storage})", exact_bytes(direction.storage)))
    return rows


def _verify(data: SummaryData) -> list[str]:
    lines = []
    for result in data.verify:
        agreement, _, kinds = agreement_sentence(result).partition("; ")
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
