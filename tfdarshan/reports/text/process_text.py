"""Words the processes of a session: how many of each kind, and a table of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tfdarshan.analysis.ranks.process_list import KINDS, ProcessEntry
from tfdarshan.file_name import printable
from tfdarshan.sessions.process_role import MAIN
from tfdarshan.terminal.columns import Columns
from tfdarshan.terminal.layout import Layout
from tfdarshan.terminal.paint import WIDTH
from tfdarshan.terminal.wrapping import wrap
from tfdarshan.units import human_bytes, human_seconds, plural, shortened

PROCESSES = Columns(-26, " ", -24, 11, 11, 11, 11)
HEAD = ("Processes", "", "calls", "read", "written", "recorded")
LABEL_WIDTH = 24
# A screen has room for so many.
MOST_PROCESSES = 20


def kinds_text(entries: Sequence[ProcessEntry]) -> str:
    """Count the processes that lists show: "main, 8 workers, 1 program"; "" of one process or a log.

    Of a job the main processes are its ranks.
    """
    if len(entries) < 2:
        return ""
    shown = Counter(entry.role for entry in entries if not entry.hidden)
    ranks = len({entry.rank for entry in entries if entry.rank is not None})
    mains = shown.pop(MAIN, 0) if ranks > 1 else 0
    said = [plural(ranks, "rank")] if mains else []
    said += [_count(kind, shown[kind]) for kind in KINDS if shown[kind]]
    return ", ".join([*said, hidden_text(entries)] if hidden_text(entries) else said)


def hidden_text(entries: Sequence[ProcessEntry]) -> str:
    """Describe how many processes lists leave out; "" if none."""
    hidden = sum(entry.hidden for entry in entries)
    return f"{plural(hidden, 'helper')} that read no data" if hidden else ""


def process_lines(entries: Sequence[ProcessEntry], width: int = WIDTH) -> list[str]:
    """List the processes with what they did; no lines of one process or a log."""
    if len(entries) < 2:
        return []
    shown = [entry for entry in entries if not entry.hidden]
    table = [HEAD, *map(_row, shown[:MOST_PROCESSES])]
    layout = Layout(PROCESSES, table, width, least=(5, 4, 1))
    lines = [*layout.all_lines(table), *wrap(layout.note(), width, "  ")]
    left = Counter(entry.role for entry in shown[MOST_PROCESSES:])
    more = [_count(kind, left[kind]) for kind in KINDS if left[kind]]
    if more:
        lines.append(f"  and {', '.join(more)} more (--json lists all)")
    if len(shown) < len(entries):
        names = Counter(entry.label.partition(" (")[0] for entry in entries if entry.hidden)
        listed = shortened(printable(", ".join(names)), 40)
        lines.append(f"  not listed: {hidden_text(entries)} ({listed})")
    return lines


def _row(entry: ProcessEntry) -> tuple[str, ...]:
    label = shortened(printable(entry.label), LABEL_WIDTH)
    moved = human_bytes(entry.bytes_read), human_bytes(entry.bytes_written)
    name = shortened(printable(entry.name), LABEL_WIDTH)
    return f"  {label}", name, f"{entry.calls:,}", *moved, human_seconds(entry.duration_s)


def _count(kind: str, count: int) -> str:
    return kind if kind == MAIN and count == 1 else plural(count, kind, KINDS[kind])
