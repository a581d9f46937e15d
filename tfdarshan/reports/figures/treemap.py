"""Boxes within boxes: folders, and the files in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tfdarshan.reports.figures.single_calls import escaped
from tfdarshan.reports.figures.theme import BRANCHES, EMPTY, INK, LIGHT, Figure, figure
from tfdarshan.units import human_bytes, human_seconds, plural, shortened

# Of the names in boxes, in pixels.
LEAST_FONT = 11
NAME_WIDTH = 60
# Boxes in boxes in a box are drawn; a click on one draws what is in it.
LEVELS = 3
# A folder with so much of the one around it is no division of that: one level more is drawn, so many at most.
NEARLY_ALL = 0.95
MOST_LEVELS_MORE = 4


FOLDER, FILE, OTHERS = "folder", "file", "others"
# The branch of a box that is in none: the outermost.
NO_BRANCH = -1


@dataclass(frozen=True)
class Box:
    """A folder, a file, or the other files of a folder.

    Attributes:
        id: Its path; that of others ends in "//", as no path does.
        parent: The id of the box around it, "" for the outermost.
        name: What stands in it.
        kind: FOLDER, FILE or OTHERS.
        value: Its part of the whole, with all that is in it.
        files: How many files it holds.
        branch: Which of the boxes in the outermost one it is of.
    """

    id: str
    parent: str
    name: str
    kind: str
    value: float
    files: int
    branch: int = NO_BRANCH


def treemap_figure(boxes: Sequence[Box], *, in_seconds: bool) -> Figure:
    """Draws boxes whose values are seconds or bytes; each branch has a colour, its files a paler one."""
    worded = human_seconds if in_seconds else human_bytes
    whole = sum(box.value for box in boxes if not box.parent) or 1.0
    trace = {
        "type": "treemap",
        "ids": [box.id for box in boxes],
        "labels": [escaped(shortened(box.name, NAME_WIDTH)) for box in boxes],
        "parents": [box.parent for box in boxes],
        "values": [round(box.value, 9) for box in boxes],
        "branchvalues": "total",
        "text": [_text(box, worded(box.value)) for box in boxes],
        "texttemplate": "<b>%{label}</b><br>%{text}",
        "customdata": [[box.kind, _path(box), box.value / whole] for box in boxes],
        "hovertemplate": "%{customdata[1]}<br>%{label}: %{text}, %{customdata[2]:.1%} of all<extra></extra>",
        "maxdepth": LEVELS + _undivided(boxes),
        # Its boxes are as light on dark paper.
        "pathbar": {"textfont": {"color": INK[LIGHT]}},
        "outsidetextfont": {"color": INK[LIGHT]},
        "marker": {"cornerradius": 3, "colors": [_colour(box) for box in boxes], "line": {"width": 1}},
        "tiling": {"pad": 2, "squarifyratio": 1.6},
    }
    # Names that would be too small to be read are not written: a hover tells them.
    unread = {"minsize": LEAST_FONT, "mode": "hide"}
    return figure([trace], height=400, margin={"l": 4, "r": 4, "t": 4, "b": 4}, uniformtext=unread)


def _undivided(boxes: Sequence[Box]) -> int:
    """Counts the outermost levels in which one folder has nearly all."""
    inside: dict[str, list[Box]] = {}
    for box in boxes:
        inside.setdefault(box.parent, []).append(box)
    around, levels = inside.get("", []), 0
    while len(around) == 1 and levels < MOST_LEVELS_MORE:
        (outer,) = around
        around = [
            box
            for box in inside.get(outer.id, [])
            if box.kind == FOLDER and box.value >= NEARLY_ALL * outer.value
        ]
        levels += len(around)
    return levels


def _text(box: Box, worded: str) -> str:
    return worded if box.kind != FOLDER else f"{worded}, {plural(box.files, 'file')}"


def _path(box: Box) -> str:
    return escaped(shortened(box.id.rstrip("/") or "/", 2 * NAME_WIDTH))


def _colour(box: Box) -> str:
    if box.branch == NO_BRANCH:
        return EMPTY
    strong, pale = BRANCHES[box.branch % len(BRANCHES)]
    return strong if box.kind == FOLDER else pale
