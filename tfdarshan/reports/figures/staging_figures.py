"""The capacity curve: what an epoch saves by the bytes that are copied."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tfdarshan.reports.figures.theme import ACCENT, EMPTY, LEVELS, Figure, figure, plain
from tfdarshan.units import human_bytes, human_seconds

if TYPE_CHECKING:
    from tfdarshan.staging.advice import Advice
    from tfdarshan.staging.expectation import Expectation

# The trace that the slider moves.
MARKER = 0
RULE_COLOURS = LEVELS


def capacity_figure(advice: Advice, expected: Sequence[Expectation], start: int) -> Figure:
    """Draw it.

    Args:
        advice: The advice, whose curve it is.
        expected: What to expect at each point of the curve.
        start: The point that the marker is at.
    """
    size = [point.bytes for point in advice.curve]
    saved = [e.saved_s for e in expected]
    traces = [
        {
            "type": "scatter",
            "mode": "markers",
            "name": "chosen",
            "x": [size[start]],
            "y": [saved[start]],
            "marker": {"color": ACCENT, "size": 14, "symbol": "circle-open", "line": {"width": 3}},
            "hoverinfo": "skip",
            "zorder": 3,
        },
        _line("at most", size, [e.high_s for e in expected], {"color": LEVELS[0], "width": 1, "dash": "dot"}),
        _line("at least", size, [e.low_s for e in expected], {"color": LEVELS[0], "width": 1, "dash": "dot"})
        | {"fill": "tonexty", "fillcolor": "rgba(168,213,216,0.2)"},
        _line("expected", size, saved, {"color": LEVELS[2], "width": 2})
        | {
            "customdata": [
                [human_bytes(p.bytes), f"{p.files:,}", human_seconds(e.saved_s)]
                for p, e in zip(advice.curve, expected, strict=True)
            ],
            "hovertemplate": f"%{{customdata[0]}}, %{{customdata[1]}} {units_of(advice)}: "
            "saves %{customdata[2]} an epoch<extra></extra>",
        },
    ]
    for rule, colour in zip(advice.rules, RULE_COLOURS, strict=True):
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": rule.name,
                "x": [rule.bytes],
                "y": [rule.expected.saved_s],
                "marker": {"color": colour, "size": 9, "symbol": "diamond"},
                "hovertemplate": f"{rule.name}: {rule.files:,} files, {human_bytes(rule.bytes)}, saves "
                f"{human_seconds(rule.expected.saved_s)} an epoch<extra></extra>",
            }
        )
    shapes = [] if advice.knee is None else [_knee(advice.knee.bytes)]
    return figure(
        traces,
        shapes=shapes,
        annotations=[
            {
                "x": shape["x0"],
                "y": 1,
                "yref": "paper",
                "text": "knee",
                "showarrow": False,
                "xanchor": "left",
                "yanchor": "top",
            }
            for shape in shapes
        ],
        height=340,
        xaxis={
            "title": {"text": "bytes copied"},
            "rangemode": "tozero",
            "tickformat": ".3~s",
            "ticksuffix": "B",
            # Apart from the first one of the other axis.
            "ticks": "outside",
            "ticklen": 8,
            "tickcolor": "rgba(0,0,0,0)",
        },
        yaxis={"title": {"text": "saved an epoch"}, "rangemode": "tozero", "ticksuffix": " s"},
    )


def units_of(advice: Advice) -> str:
    """Return what the curve counts."""
    return "folders" if advice.unit == "directory" else "files"


def _line(name: str, x: list[int], y: list[float], line: dict[str, object]) -> dict[str, object]:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": [0, *x] if name != "expected" else x,
        "y": plain([0.0, *y]) if name != "expected" else plain(y),
        "line": line,
        "hoverinfo": "skip",
    }


def _knee(at_bytes: int) -> dict[str, object]:
    return {
        "type": "line",
        "xref": "x",
        "yref": "paper",
        "x0": at_bytes,
        "x1": at_bytes,
        "y0": 0,
        "y1": 1,
        "line": {"color": EMPTY, "width": 1, "dash": "dot"},
    }
