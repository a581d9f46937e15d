"""Words a list of sessions: a line for each, the worst first; data in, text out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tfdarshan.file_name import printable, shell_word
from tfdarshan.findings.kept_verdicts import UNREADABLE, KeptVerdict
from tfdarshan.reports.text.command_text import as_typed
from tfdarshan.sessions.catalogue import COMPLETE, INTERRUPTED, RECORDING, ListedSession
from tfdarshan.terminal.columns import Columns
from tfdarshan.terminal.paint import Paint
from tfdarshan.terminal.wrapping import wrap
from tfdarshan.units import (
    human_seconds,
    human_times,
    percent,
    plural,
    shortened,
    shortened_inside,
    started_at,
)

# A narrow terminal has no room for when and how long, others not for how long, or not for years.
WIDEST_NAME, NARROW, USUAL, WIDE = 40, 80, 100, 120
YEAR = len("2024-")
# Characters of a command that tell it from others.
LEAST_COMMAND = 20
Group = Sequence[ListedSession]
Verdicts = Mapping[Path, KeptVerdict]
STATES = {
    RECORDING: "recording now",
    INTERRUPTED: "interrupted",
}


def list_text(groups: Sequence[Group], verdicts: Verdicts, logdir: str, paint: Paint) -> str:
    """Return the list, ending in a newline.

    Args:
        groups: Sessions that overlap in time together, in the order in which they are listed.
        verdicts: What is known of them, by path.
        logdir: As it was given.
        paint: How wide it may be, and whether it has colours.
    """
    sessions = [session for group in groups for session in group]
    if not sessions:
        return f"no sessions in {printable(logdir)}\n"
    # Names of sessions that overlap are indented; two blanks part them from the next column.
    widest = max(len(printable(session.name)) for session in sessions) + 4
    shape = Shape(min(widest, WIDEST_NAME, paint.width * 3 // 8), paint.width)
    lines = [f"{plural(len(sessions), 'session')} in {printable(logdir)}, those that lose most first", ""]
    heading = "" if paint.width < NARROW else "why"
    lines.append(paint.dim(shape.row("session", "when", "lasted", "waits", "gain", heading)))
    for group in groups:
        if len(group) > 1:
            lines.append(paint.dim(f"{plural(len(group), 'session')} at the same time"))
        indent = "  " if len(group) > 1 else ""
        for session in group:
            lines += _lines(session, verdicts.get(session.path), shape, indent, paint)
    interrupted = sum(session.state == INTERRUPTED for session in sessions)
    if interrupted:
        command, they = f"tfdarshan recover {shell_word(logdir)}", "it" if interrupted == 1 else "they"
        lines += ["", f"{interrupted:,} interrupted: `{command}` writes what {they} recorded"]
    return "\n".join(lines) + "\n"


def why(session: ListedSession, verdict: KeptVerdict | None) -> str:
    """Say in a few words what is wrong with a session, if anything is."""
    said = _why(session, verdict)
    return f"read in part: {said}" if verdict is not None and verdict.in_part else said


def _why(session: ListedSession, verdict: KeptVerdict | None) -> str:
    if session.state != COMPLETE:
        return STATES.get(session.state, UNREADABLE)
    if verdict is None:
        return "not looked at yet"
    if verdict.state == "healthy":
        return "healthy"
    if verdict.state == "slow" or verdict.title == UNREADABLE:
        return verdict.title
    if verdict.wait_share is not None:
        if "Too short to tell" in verdict.sentence:
            return "too short to tell"
        return "waits for input" if verdict.finding == "input_bound" else verdict.title
    untold = "cannot tell whether it waits for files"
    return f"{untold}; what stands out: {verdict.title}" if verdict.title else untold


@dataclass(frozen=True)
class Shape:
    """The columns of the list that a terminal of some width has room for."""

    name_width: int
    width: int

    @cached_property
    def _columns(self) -> Columns:
        when = -16 if self.width >= WIDE else YEAR - 16
        widths = (9, 9) if self.width < NARROW else (when, 9, 9) if self.width < USUAL else (when, 11, 9, 9)
        return Columns(-self.name_width, *widths, "  ", 0)

    def row(self, name: str, when: str, lasted: str, waits: str, gain: str, said: str) -> str:
        """Return a line."""
        name = shortened(name, self.name_width - 1)
        when = when[YEAR:] if self.width < WIDE and when[YEAR - 1 : YEAR] == "-" else when
        cells: tuple[str, ...] = (when, lasted, waits, gain)
        if self.width < USUAL:
            cells = (waits, gain) if self.width < NARROW else (when, waits, gain)
        return self._columns.row(name, *cells, said)


def _lines(
    session: ListedSession, verdict: KeptVerdict | None, shape: Shape, indent: str, paint: Paint
) -> list[str]:
    share = None if verdict is None else verdict.wait_share
    cells = (
        f"{indent}{printable(session.name)}",
        started_at(session.start_ns),
        human_seconds(session.duration_ns / 1e9) if session.state == COMPLETE else "-",
        "-" if share is None else percent(share, 1),
        "-" if verdict is None or verdict.speedup is None else human_times(verdict.speedup),
    )
    start = shape.row(*cells, ".")[:-1]
    said = printable(why(session, verdict))
    lines = [start + _begin(said, max(paint.width - len(start), 12))]
    if paint.width < NARROW:
        lines = [start.rstrip(), *wrap(said, paint.width, f"{indent}  ")]
    if verdict is not None and verdict.state == "slow":
        lines = list(map(paint.bold, lines))
    room = paint.width - len(indent) - 2
    about = _about(session, room)
    return [*lines, paint.dim(f"{indent}  {about}")] if about else lines


def _begin(text: str, width: int) -> str:
    """Return a text, or its beginning before "..." where it is longer."""
    return text if len(text) <= width else f"{text[: width - 4].rstrip()} ..."


def _about(session: ListedSession, width: int) -> str:
    """Word which job it was: its command, shortened where the commands of a list hardly differ, and more."""
    said = [plural(session.ranks, "rank")] if session.ranks > 1 else []
    alone = max(session.ranks, 1)
    said += [plural(session.processes, "process", "processes")] if session.processes > alone else []
    said += [f"emulated {session.emulated}"] if session.emulated else []
    more = "".join(f", {words}" for words in said)
    command = shortened_inside(printable(as_typed(session.command)), max(width - len(more), LEAST_COMMAND))
    return f"{command}{more}" if command else ", ".join(said)
