"""Words several sessions and logs: one line each, the worst first; data in, text out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from tfdarshan.file_name import printable
from tfdarshan.terminal.columns import Columns
from tfdarshan.terminal.layout import Layout, begun
from tfdarshan.terminal.paint import Paint
from tfdarshan.terminal.wrapping import wrap
from tfdarshan.units import human_bytes, human_seconds, percent, plural, shortened

WIDEST_NAME = 30


class Row(Protocol):
    """What a line says: `tfdarshan.commands.several.Ranked`."""

    @property
    def name(self) -> str:
        """As it was given."""

    @property
    def duration_s(self) -> float:
        """How long it lasted."""

    @property
    def processes(self) -> int:
        """How many there were."""

    @property
    def io_s(self) -> float:
        """Seconds in I/O of a process."""

    @property
    def bytes_read(self) -> int:
        """Bytes read."""

    @property
    def bytes_written(self) -> int:
        """Bytes written."""

    @property
    def title(self) -> str:
        """What was found."""


def ranked_text(rows: Sequence[Row], paint: Paint) -> str:
    """Return a line for each, ending in a newline.

    Args:
        rows: In the order in which they are listed.
        paint: How wide it may be, and whether it has colours.
    """
    widest = min(max(len(printable(row.name)) for row in rows), WIDEST_NAME)
    head = ("session", "lasted", "processes", "in I/O", "read", "written", "what stands out")
    table = [head, *(_cells(row, min(widest, paint.width * 2 // 5)) for row in rows)]
    layout = Layout(Columns(-widest, 11, 11, 9, 9, 9, "  ", 0), table, paint.width, least=(2, 5), cut=begun)
    lines = [
        f"{plural(len(rows), 'session')}, those that lose most first",
        "",
        *map(paint.dim, layout.lines(head)),
        *layout.all_lines(table[1:]),
        *map(paint.dim, wrap(layout.note(), paint.width)),
    ]
    return "\n".join(lines) + "\n"


def _cells(row: Row, widest: int) -> tuple[str, ...]:
    return (
        shortened(printable(row.name), widest),
        human_seconds(row.duration_s),
        f"{row.processes:,}",
        percent(min(row.io_s, row.duration_s), row.duration_s),
        human_bytes(row.bytes_read),
        human_bytes(row.bytes_written),
        printable(row.title),
    )
