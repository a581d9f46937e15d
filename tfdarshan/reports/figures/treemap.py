"""Boxes within boxes: folders, and the files in them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tfdarshan.reports.figures.theme import Figure, escaped, figure
from tfdarshan.units import human_bytes, human_rate, percent, plural, shortened

# Of names in boxes, in pixels.
LEAST_FONT = 11
NAME_WIDTH = 60
# Boxes in boxes in a box are drawn; a click on one draws what is in it.
LEVELS = 3
# Colours span so many powers of ten of bandwidth at least, that boxes which hardly differ look alike.
LEAST_SPAN = 1.0

FOLDER, FILE, OTHERS = "folder", "file", "others"


@dataclass(frozen=True)
class Box:
    """A folder, a file, or the other files of a folder.

    Attributes:
        id: Its path; that of others ends in "//", as no path does.
        parent: The id of the box around it, "" for the outermost.
        name: What stands in it.
        kind: FOLDER, FILE or OTHERS.
        value: The bytes that were moved, with all that is in it.
        seconds: The time in calls of the same.
        files: How many files it holds.
    """

    id: str
    parent: str
    name: str
    kind: str
    value: float
    seconds: float
    files: int


def treemap_figure(boxes: Sequence[Box]) -> Figure:
    """Draw boxes as large as their bytes, in colours of how long a byte took."""
    whole = sum(box.value for box in boxes if not box.parent) or 1.0
    trace = {
        "type": "treemap",
        "ids": [box.id for box in boxes],
        "labels": [escaped(shortened(box.name, NAME_WIDTH)) for box in boxes],
        "parents": [box.parent for box in boxes],
        "values": [round(box.value, 9) for box in boxes],
        "branchvalues": "total",
        "text": [_lines(box) for box in boxes],
        "hovertext": [_about(box) for box in boxes],
        "texttemplate": "<b>%{label}</b><br>%{text}",
        "customdata": [[box.kind, _path(box), percent(box.value, whole)] for box in boxes],
        "hovertemplate": "%{customdata[1]}<br>%{label}: %{hovertext}, %{customdata[2]} of all<extra></extra>",
        "maxdepth": LEVELS,
        "marker": {"cornerradius": 3, "line": {"width": 1}, **_colours(boxes)},
        "tiling": {"pad": 2, "squarifyratio": 1.6},
    }
    # Names that would be too small to be read are not written: a hover tells them.
    unread = {"minsize": LEAST_FONT, "mode": "hide"}
    return figure([trace], height=440, margin={"l": 4, "r": 4, "t": 4, "b": 4}, uniformtext=unread)


def _colours(boxes: Sequence[Box]) -> dict[str, Any]:
    """Return colours by the power of ten of seconds a byte, and their legend as the bandwidth of a reader."""
    powers = [math.log10(box.seconds / box.value) if box.seconds > 0 else None for box in boxes]
    known = [power for power in powers if power is not None] or [0.0]
    middle, half = (min(known) + max(known)) / 2, max((max(known) - min(known)) / 2, LEAST_SPAN / 2)
    low, high = middle - half, middle + half
    ticks = [low, middle, high]
    return {
        "colors": [low if power is None else round(power, 4) for power in powers],
        "cmin": low,
        "cmax": high,
        "showscale": True,
        "colorbar": {
            "thickness": 12,
            "outlinewidth": 0,
            "tickvals": ticks,
            "ticktext": [human_rate(1.0, 10**power) for power in ticks],
        },
    }


def _lines(box: Box) -> str:
    """Word what stands in a box, in narrow lines."""
    return "<br>".join([human_bytes(box.value), *_bandwidth(box)])


def _about(box: Box) -> str:
    files = [plural(box.files, "file")] if box.kind == FOLDER else []
    return ", ".join([human_bytes(box.value), *files, *_bandwidth(box)])


def _bandwidth(box: Box) -> list[str]:
    return [human_rate(box.value, box.seconds)] if box.seconds > 0 else []


def _path(box: Box) -> str:
    return escaped(shortened(box.id.rstrip("/") or "/", 2 * NAME_WIDTH))
