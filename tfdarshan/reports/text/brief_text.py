"""Words a session on one screen: the answer first, then what was read and written, and how to see more."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tfdarshan.analysis.files.coverage import Coverage
from tfdarshan.analysis.summary_data import SummaryData, slowed_calls
from tfdarshan.file_name import printable, shell_word
from tfdarshan.findings.diagnosis import Diagnosis
from tfdarshan.findings.overlapping_fixes import one_of_names
from tfdarshan.reports.text.answer_text import answer_text
from tfdarshan.reports.text.command_text import as_typed
from tfdarshan.reports.text.ended_text import ended_sentence
from tfdarshan.reports.text.layers_text import layer_facts
from tfdarshan.reports.text.mapped_text import mapped_fact
from tfdarshan.reports.text.own_cost_text import own_cost_sentence
from tfdarshan.reports.text.process_text import kinds_text
from tfdarshan.reports.text.ranks_text import rank_lines
from tfdarshan.reports.text.summary_text import emulated_as, emulated_title, told_apart
from tfdarshan.sessions.overlap import overlap_lines
from tfdarshan.terminal.columns import Columns
from tfdarshan.terminal.fitting import COLOUR
from tfdarshan.terminal.paint import WIDTH, Paint
from tfdarshan.terminal.wrapping import wrap
from tfdarshan.units import (
    human_bytes,
    human_rate,
    human_seconds,
    percent,
    plural,
    shortened,
    shortened_inside,
)

# So many lines are seen at once.
SCREEN = 25
MOST_FAILURES = 3
LABEL = 10
FACTS = Columns(-LABEL, 0)
ROOMY = "\n\n"
ONE_OF = "One of"
# A narrow terminal has no room for all columns.
FILES, NARROW_FILES = Columns(12, 11, 12, 8, "   ", 0), Columns(11, 11, "   ", 0)


@dataclass(frozen=True)
class Room:
    """How much is said besides the answer.

    Attributes:
        files: The slowest files.
        ranks: Of a job of several.
        job_lines: Lines that the command may have.
        left_out: Facts that are left out. None of them has a number.
        between: Line ends between the answer, what was counted and what shows more.
        commands: That show more, the last of which shows all.
    """

    files: int
    ranks: int
    job_lines: int = 2
    left_out: tuple[str, ...] = (ONE_OF,)
    between: str = ROOMY
    commands: int = 2


# What there is most room for first: the answer and the facts are whole in each.
ROOMS = (
    Room(files=3, ranks=4, left_out=()),
    Room(files=1, ranks=3),
    Room(files=1, ranks=2, job_lines=1),
    Room(files=0, ranks=1, job_lines=1),
    Room(files=0, ranks=1, job_lines=1, between="\n"),
    Room(files=0, ranks=1, job_lines=1, between="\n", commands=1),
)


def brief_text(data: SummaryData, diagnosis: Diagnosis, paint: Paint | None = None) -> str:
    """Return the text, ending in a newline.

    Args:
        data: What the session holds.
        diagnosis: What was found.
        paint: How wide it may be, and whether it has colours.
    """
    paint = Paint() if paint is None else paint
    text = ""
    for room in ROOMS:
        text = _text(data, diagnosis, paint, room)
        if _rows(text, paint.width) <= SCREEN:
            break
    return text


def _rows(text: str, width: int) -> int:
    """Return the rows of a terminal that a text takes: a longer line, such as a command, takes several."""
    lines = COLOUR.sub("", text).splitlines()
    return sum(max(-(-len(line) // width), 1) for line in lines)


def _text(data: SummaryData, diagnosis: Diagnosis, paint: Paint, room: Room) -> str:
    counted = [
        _warnings(data, paint),
        _facts(data, diagnosis, paint, room),
        rank_lines(data.ranks, room.ranks, paint.width),
        _slowest(data, room.files, paint),
        _more(data, diagnosis, paint)[-room.commands :],
    ]
    said = answer_text(diagnosis, paint)
    answer = "\n".join(said if room.between == ROOMY else filter(None, said))
    rest = room.between.join("\n".join(section) for section in counted if section)
    return f"{answer}{room.between}{rest}\n"


def _warnings(data: SummaryData, paint: Paint) -> list[str]:
    said = []
    if data.emulation is not None:
        as_if = emulated_as(data.emulation, paint.width // 2)
        slowed = "times are simulated" if slowed_calls(data.emulation) else "it slowed no call"
        said.append(f"{emulated_title(data.emulation).upper()}: {as_if}; {slowed}.")
    if not data.finished:
        said.append(ended_sentence(data))
    if data.trace_span is not None:
        said.append(data.trace_span.sentence)
    said += [f"{bound}." for bound in data.bounds]
    said += data.problems
    lines = [line for sentence in said for line in _wrapped(f"! {sentence}", paint, "  ")]
    return lines + overlap_lines([Path(path) for path in data.overlapping_sessions])


def _facts(data: SummaryData, diagnosis: Diagnosis, paint: Paint, room: Room) -> list[str]:
    engine = " ".join(filter(None, (data.engine.get("name"), data.engine.get("version"))))
    kinds = kinds_text(data.process_list)
    counts = [plural(data.processes, "process", "processes") + (f" ({kinds})" if kinds else "")]
    counts += [plural(data.threads, "thread")] if data.threads is not None else []
    counts.append(engine)
    session = f"{data.session}, {human_seconds(data.duration_s)} on {data.host}, {', '.join(counts)}"
    programs = data.coverage.programs
    facts = [
        (ONE_OF, one_of_names(diagnosis.named, diagnosis.findings)),
        ("Session", session),
        ("Job", shortened_inside(as_typed(data.command), room.job_lines * (paint.width - LABEL))),
        ("Read", _moved(data, "read")),
        ("Written", _moved(data, "written")),
        ("Opened", _opened(data)),
        *([("Mapped", mapped_fact(data.mapped))] if data.mapped.files else []),
        *layer_facts(data.log),
        ("Failed", _failed(data)),
        ("Seen", _seen(data)),
        ("Cost", "" if data.own_cost is None else own_cost_sentence(data.own_cost)),
        ("Left out", f"of findings: {programs.words}" if programs.worth_saying else ""),
    ]
    return [
        line
        for label, text in facts
        if text and label not in room.left_out
        for line in _fact(label, printable(text), paint)
    ]


def _fact(label: str, text: str, paint: Paint) -> list[str]:
    """Return the lines of a fact, none of them cut: a path that no line has room for is parted."""
    lines = wrap(text, paint.width - LABEL, whole_words=False)
    return [FACTS.row(label if place == 0 else "", line) for place, line in enumerate(lines)]


def _moved(data: SummaryData, direction: str) -> str:
    """Word what was read or written, how often, and what share of the session that took; "" if nothing."""
    calls, one = ("reads", "read") if direction == "read" else ("writes", "write")
    count = sum(getattr(module, calls) for module in (data.posix, data.stdio)) + data.copies.get(calls, 0)
    moved = data.bytes_read if direction == "read" else data.bytes_written
    if not count:
        return ""
    empty = data.posix.zero_length_reads if direction == "read" else 0
    no_bytes = f" ({plural(empty, 'end-of-file read')})" if empty else ""
    seconds = data.wall_clock.read_s if direction == "read" else data.wall_clock.write_s
    return f"{human_bytes(moved)} in {plural(count, one)}{no_bytes}{_taking(data, direction, moved, seconds)}"


def _taking(data: SummaryData, direction: str, moved: int, seconds: float | None) -> str:
    """Word how long calls took, of the session's time where that is known."""
    clock = data.wall_clock
    if seconds is not None:
        if not seconds:
            return ""
        share = percent(seconds, clock.duration_s)
        rate = f"{clock.at_least}{human_rate(moved, seconds)}"
        return f"; {clock.at_most}{human_seconds(seconds)}, {share} of the session; {rate}"
    summed_s = data.file_time.read_s if direction == "read" else data.file_time.write_s
    if not summed_s:
        return ""
    over = f"; {human_rate(moved, data.duration_s)} over the whole run"
    return f"{over}; {human_seconds(summed_s)} added up over files and processes"


def _opened(data: SummaryData) -> str:
    opens, stats = data.posix.opens + data.stdio.opens, data.posix.stats or 0
    counts = [data.files_words, plural(opens, "open")]
    counts += [plural(stats, "stat")] if stats else []
    seconds, clock = data.wall_clock.meta_s, data.wall_clock
    taking = ""
    if seconds:
        share = percent(seconds, clock.duration_s)
        taking = f"; {clock.at_most}{human_seconds(seconds)}, {share} of the session"
    return ", ".join(counts) + taking


def _failed(data: SummaryData) -> str:
    """Word the failures that most calls had."""
    said = [
        f"{sum(failure.calls.values()):,} {failure.name} ({', '.join(failure.calls)})"
        for failure in sorted(data.failures, key=lambda failure: -sum(failure.calls.values()))
    ]
    more = [f"{plural(len(said) - MOST_FAILURES, 'other reason')}"] if len(said) > MOST_FAILURES else []
    return ", ".join(said[:MOST_FAILURES] + more)


def _seen(data: SummaryData) -> str:
    """Word the coverage in a line; "" for an imported log, of which the kernel's figures are not known."""
    if data.not_known:
        return ""
    coverage = data.coverage
    if coverage.read.kernel is None:
        return "not known: the kernel's count (/proc/PID/io) could not be read"
    if coverage.incomplete:
        return "not known: the kernel's count lacks processes that nobody waited for"
    said = [
        f"{coverage.seen(direction)} of the bytes {name}"
        for name, direction in (("read", coverage.read), ("written", coverage.written))
        if direction.kernel
    ]
    return f"{' and '.join(said)}, by the kernel's count{_not_recorded(coverage)}" if said else ""


def _not_recorded(coverage: Coverage) -> str:
    """Name the programs that the bytes not seen may be of; "" if there are none."""
    unrecorded = coverage.unrecorded
    missing = unrecorded.not_waited_for or coverage.read.unseen or coverage.written.unseen
    return f". Not recorded: {unrecorded.words} (see `--programs`)" if unrecorded.starts and missing else ""


def _slowest(data: SummaryData, most: int, paint: Paint) -> list[str]:
    """List files; only where one has several rows does each say what tells it apart."""
    entries = data.slowest_files[:most]
    rows_of = Counter(entry.path for entry in entries)
    columns = FILES if paint.width >= WIDTH else NARROW_FILES
    lines = [paint.dim(_file_row(columns, "time", "bytes", "open, stat", "reads", "slowest files"))]
    for entry in entries:
        moved = human_bytes(entry.bytes_read + entry.bytes_written)
        cells = human_seconds(entry.time_s), moved, human_seconds(entry.meta_s), f"{entry.reads:,}"
        where = told_apart(entry, data) if rows_of[entry.path] > 1 else ""
        room = paint.width - len(_file_row(columns, *cells, ".")) + 1 - len(where)
        lines.append(_file_row(columns, *cells, shortened(printable(entry.path), max(room, 12)) + where))
    return lines if entries else []


def _file_row(columns: Columns, time: str, moved: str, meta: str, reads: str, path: str) -> str:
    cells = (time, moved, meta, reads, path) if columns is FILES else (time, moved, path)
    return columns.row(*cells)


def _more(data: SummaryData, diagnosis: Diagnosis, paint: Paint) -> list[str]:
    """Describe what else there is, as commands to be typed."""
    path = shell_word(_from_here(data.path))
    if data.not_known and not Path(data.path).is_dir():
        return _more_of_a_log(path, paint)
    others = len(diagnosis.findings) - (diagnosis.named is not None)
    also = f"{plural(others, 'more finding')}, numbers, assumptions" if others else "numbers and assumptions"
    rows = [(f"tfdarshan findings {path}", also), (f"tfdarshan summary -v {path}", "calls, sizes, patterns")]
    if data.not_known:
        rows[1] = (rows[1][0], "calls, sizes, and what the log does not say")
    width = max(len(command) for command, _ in rows)
    if width + max(len(about) for _, about in rows) + 2 > paint.width:
        return [paint.dim(line) for command, about in rows for line in (f"{about}:", f"  {command}")]
    return [paint.dim(f"{command:<{width}}  {about}") for command, about in rows]


def _more_of_a_log(path: str, paint: Paint) -> list[str]:
    """Describe what else there is of a log that is no session."""
    rows = [
        (f"tfdarshan import {path}", "a session of it, for all other verbs"),
        (f"tfdarshan summary -v {path}", "calls, sizes, and what the log does not say"),
    ]
    return [paint.dim(f"{command}  {about}") for command, about in rows]


def _from_here(path: str) -> str:
    """Return a path below the working directory without that."""
    try:
        return str(Path(path).relative_to(Path.cwd()))
    except (ValueError, OSError):
        return path


def _wrapped(text: str, paint: Paint, indent: str) -> list[str]:
    # A path is whole, so that it can be copied, however long.
    return wrap(printable(text), paint.width, hang=indent)
