"""What charts over time or over steps mark: waits for input, steps, checkpoints, and bands of epochs.

A line for each step can be read only where few are shown; a band says which epoch, or which steps, are
below it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from tfdarshan.reports.figures.theme import BAND, COMPUTE, WAIT, WRITE, Figure
from tfdarshan.units import human_seconds

MOST_MARKS = 300
# As many steps have a line each.
MOST_STEP_LINES = 40
BAND_PX, GAP_PX = 17, 3
# A band narrower than these shares of the chart has its short name only, or none.
WIDE, NARROW = 0.12, 0.02


@dataclass(frozen=True)
class Band:
    """A part of the steps.

    Attributes:
        label: Its name.
        short: The same where there is little room.
        steps: Which steps it has, in words.
        first: Number of its first step.
        last: Number of its last step.
        start_ns: Start of the first.
        end_ns: End of the last.
    """

    label: str
    short: str
    steps: str
    first: int
    last: int
    start_ns: int
    end_ns: int

    @property
    def about(self) -> str:
        """Describe what it is, for a pointer that rests on it."""
        lasted = human_seconds((self.end_ns - self.start_ns) / 1e9)
        return (
            f"{self.steps}, {lasted}" if self.label == self.steps else f"{self.label}: {self.steps}, {lasted}"
        )


def with_time_bands(drawn: Figure, bands: Sequence[Band]) -> Figure:
    """Return a figure over time with bands above it."""
    return _with_bands(drawn, [(band, band.start_ns / 1e9, band.end_ns / 1e9) for band in bands])


def with_step_bands(drawn: Figure, bands: Sequence[Band]) -> Figure:
    """Return a figure over steps with bands above it."""
    return _with_bands(drawn, [(band, band.first - 0.5, band.last + 0.5) for band in bands])


def mark_shapes(steps: pd.DataFrame | None, bursts: pd.DataFrame | None) -> list[dict[str, Any]]:
    """Mark where steps end, if they are few, and where checkpoints begin."""
    return step_lines(steps) + ([] if bursts is None else burst_lines(bursts))


def wait_shapes(steps: pd.DataFrame) -> list[dict[str, Any]]:
    """Shades the input wait at the beginning of each step."""
    if len(steps) > MOST_MARKS:
        return []
    return [
        {
            "type": "rect",
            "xref": "x",
            "yref": "paper",
            "y0": 0,
            "y1": 1,
            "layer": "below",
            "x0": row.start_ns / 1e9,
            "x1": (row.start_ns + row.input_wait_ns) / 1e9,
            "fillcolor": WAIT,
            "opacity": 0.18,
            "line": {"width": 0},
        }
        for row in steps.itertuples()
        if row.input_wait_ns > 0
    ]


def step_lines(steps: pd.DataFrame | None) -> list[dict[str, Any]]:
    """Mark where steps end, if they are few."""
    if steps is None or len(steps) > MOST_STEP_LINES:
        return []
    return [_line(end / 1e9, COMPUTE) for end in steps["end_ns"].tolist()]


def burst_lines(bursts: pd.DataFrame) -> list[dict[str, Any]]:
    """Mark where checkpoints begin."""
    return [_line(start / 1e9, WRITE) for start in bursts["start_ns"].tolist()[:MOST_MARKS]]


def _with_bands(drawn: Figure, placed: Sequence[tuple[Band, float, float]]) -> Figure:
    if not placed:
        return drawn
    layout = drawn["layout"]
    low, high = layout["xaxis"].get("range") or _extent(drawn, placed)
    placed = [(band, max(start, low), min(end, high)) for band, start, end in placed]
    shares = [(end - start) / max(high - low, 1e-12) for _, start, end in placed]
    shapes = [_strip(start, end, place) for place, (_, start, end) in enumerate(placed)]
    names = [
        _name(band, (start + end) / 2, share)
        for (band, start, end), share in zip(placed, shares, strict=True)
        if share >= NARROW
    ]
    edges = [_line(start, BAND) for _, start, _ in placed[1:]]
    room = BAND_PX + 2 * GAP_PX
    margin = layout["margin"] | {"t": layout["margin"]["t"] + room}
    more = {"shapes": [*layout.get("shapes", []), *shapes, *edges], "annotations": names, "margin": margin}
    if any(trace.get("name") for trace in drawn["data"]):
        # The legend makes room for them.
        more["legend"] = layout["legend"] | {"yref": "container", "y": 1, "yanchor": "top"}
        more["margin"] = margin | {"t": margin["t"] + 30}
        more["height"] = layout["height"] + 30
    return drawn | {"layout": layout | more}


def _extent(drawn: Figure, placed: Sequence[tuple[Band, float, float]]) -> tuple[float, float]:
    """Return where a chart without a range begins and ends: bands may be above a part of it."""
    places = [at for trace in drawn["data"] for at in trace["x"]]
    places += [at for _, start, end in placed for at in (start, end)]
    return min(places), max(places)


def _strip(start: float, end: float, place: int) -> dict[str, Any]:
    return {
        "type": "rect",
        "xref": "x",
        "yref": "paper",
        "ysizemode": "pixel",
        "yanchor": 1,
        "x0": start,
        "x1": end,
        "y0": GAP_PX,
        "y1": GAP_PX + BAND_PX,
        "fillcolor": BAND,
        "opacity": 0.22 if place % 2 else 0.4,
        "line": {"width": 0},
        "layer": "below",
    }


def _name(band: Band, middle: float, share: float) -> dict[str, Any]:
    return {
        "xref": "x",
        "yref": "paper",
        "x": middle,
        "y": 1,
        "yanchor": "bottom",
        "yshift": GAP_PX - 1,
        "showarrow": False,
        "text": band.label if share >= WIDE else band.short,
        "hovertext": band.about,
        "font": {"size": 11},
        "borderpad": 1,
    }


def _line(at_s: float, colour: str) -> dict[str, Any]:
    return {
        "type": "line",
        "xref": "x",
        "yref": "paper",
        "x0": at_s,
        "x1": at_s,
        "y0": 0,
        "y1": 1,
        "line": {"color": colour, "width": 1, "dash": "dot"},
    }
