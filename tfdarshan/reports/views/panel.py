"""What a view is made of: numbers, charts, tables and sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tfdarshan.file_name import printable
from tfdarshan.reports.figures.theme import Figure
from tfdarshan.units import exact_bytes, human_bytes, human_rate, human_seconds

# Names in what a request says; a figure's places have them in `ids`, and in `parents` those that they lie in.
EXACT = ("link", "ids", "parents")
NUMBERS = (int, float, type(None))
# That stay: lines of code, and spaces that keep a number and its unit together.
OWN_SPACES = ("\n", "\N{NO-BREAK SPACE}")
SPACES = re.compile(f"([{''.join(OWN_SPACES)}])")


@dataclass(frozen=True)
class Cell:
    """A number or a word as people read it; `exact` is shown on hover."""

    text: str
    exact: str = ""
    # A file or folder that a click leads to: ("file", path).
    link: tuple[str, str] | None = None
    # What the change is: a word that the page adds; "better" and "worse" have a colour, too.
    outcome: str = ""


@dataclass(frozen=True)
class Tile:
    """One key number with its name."""

    label: str
    value: Cell
    note: str = ""


@dataclass(frozen=True)
class Tiles:
    """Key numbers."""

    items: Sequence[Tile]
    kind: str = "tiles"


@dataclass(frozen=True)
class SliderPoint:
    """A place of a slider: its value in requests, where the chart's marker goes, and what is said of it."""

    value: int
    x: float
    y: float
    text: str


@dataclass(frozen=True)
class Slider:
    """Chooses a point of a chart; `argument` names its value in requests, `marker` is the trace it moves."""

    label: str
    argument: str
    points: Sequence[SliderPoint]
    start: int
    marker: int


@dataclass(frozen=True)
class Chart:
    """A figure; `key` names it on its page and in deep links."""

    key: str
    title: str
    figure: Figure
    note: str = ""
    half: bool = False
    slider: Slider | None = None
    kind: str = "chart"


@dataclass(frozen=True)
class Paging:
    """Which rows of how many a table shows, and in which order.

    Attributes:
        offset: The place of the first.
        limit: How many a page has.
        matching: How many there are.
        sorts: What requests call the order by each column, "" if there is none.
        sort: That of this page.
        descending: Whether the largest come first.
    """

    offset: int
    limit: int
    matching: int
    sorts: Sequence[str]
    sort: str
    descending: bool


@dataclass(frozen=True)
class Table:
    """Rows of cells. Columns are (heading, "text" or "number")."""

    key: str
    title: str
    columns: Sequence[tuple[str, str]]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    half: bool = False
    paging: Paging | None = None
    kind: str = "table"


@dataclass(frozen=True)
class Text:
    """Sentences, such as what to do where there is nothing to show.

    Attributes:
        lines: The sentences.
        title: What stands above them, or before them.
        code: Lines to copy.
        tone: "plain" or "warning".
        folded: Only the title is shown until it is clicked.
        inline: Title and sentences are one line, if there is room.
    """

    lines: Sequence[str]
    title: str = ""
    code: str = ""
    tone: str = "plain"
    folded: bool = False
    inline: bool = False
    kind: str = "text"


@dataclass(frozen=True)
class Card:
    """One finding; `tone` is "doubt", "problem" or "note"."""

    name: str
    tone: str
    label: str
    title: str
    cost: Cell
    speedup: str
    gain: str
    assumes: Sequence[str]
    what: str
    fix: str
    line: str
    instead_of: str
    evidence: Sequence[tuple[str, str]]
    files: Sequence[Cell]
    not_worth: str


@dataclass(frozen=True)
class Headline:
    """The answer: why it is slow, and what to do.

    Attributes:
        sentence: What comes first: the whole verdict if there is no card, else what it says without the fix.
        state: "slow", "suspect", "healthy", "unknown" or "pending".
        note: What else to know, and what to record for a better answer.
        speedup: The gain as a large number, "" if there is none.
        promise: What that number is.
        card: The finding whose fix it is.
    """

    sentence: str
    state: str
    note: str = ""
    speedup: str = ""
    promise: str = ""
    card: Card | None = None
    kind: str = "verdict"


@dataclass(frozen=True)
class Part:
    """A part of a whole, with its colour."""

    label: str
    value: Cell
    share: float
    share_text: str
    colour: str


@dataclass(frozen=True)
class Parts:
    """A whole divided into parts, as one bar."""

    key: str
    title: str
    items: Sequence[Part]
    kind: str = "parts"


@dataclass(frozen=True)
class Cards:
    """Findings, the most important first."""

    key: str
    title: str
    items: Sequence[Card]
    kind: str = "cards"


Panel = Tiles | Chart | Table | Text | Headline | Parts | Cards


def number(value: float | None) -> Cell:
    """Return a count; "-" where it is not known."""
    return Cell("-") if value is None else Cell(f"{value:,.0f}")


def size(value: float | None) -> Cell:
    """Return bytes."""
    return Cell("-") if value is None else Cell(human_bytes(value), exact_bytes(int(value)))


def duration(seconds: float | None) -> Cell:
    """Return seconds."""
    return Cell("-") if seconds is None else Cell(human_seconds(seconds), f"{seconds:.9f} s")


def bytes_per_s(value: float | None) -> Cell:
    """Return bytes per second."""
    return Cell("-") if value is None else Cell(f"{human_bytes(value)}/s", f"{value:,.0f} B/s")


def rate(moved: float, seconds: float | None) -> Cell:
    """Return a bandwidth."""
    if not seconds:
        return Cell("-")
    return Cell(human_rate(moved, seconds), f"{moved / seconds:,.0f} B/s")


def as_json(panels: Sequence[Panel]) -> list[dict[str, Any]]:
    """Return panels as what the page's code reads: text as `printable()` makes it, but what requests name."""
    import dataclasses

    return [_shown(dataclasses.asdict(panel)) for panel in panels]


def _shown(value: Any) -> Any:
    if isinstance(value, str):
        return "".join(part if part in OWN_SPACES else printable(part) for part in SPACES.split(value))
    if isinstance(value, dict):
        return {name: part if name in EXACT else _shown(part) for name, part in value.items()}
    # Thousands of numbers of a figure are no text.
    if isinstance(value, (list, tuple)) and not all(isinstance(part, NUMBERS) for part in value):
        return [_shown(part) for part in value]
    return value
