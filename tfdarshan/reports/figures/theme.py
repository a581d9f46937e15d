"""Colours, templates and configuration of every figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Figure = dict[str, Any]

READ, WRITE, META = "#3b78c2", "#d97f2b", "#8d86b5"
EMPTY = "#a9a9a9"
# Of bands of epochs, on light and dark paper alike.
BAND = "#8a94a3"
WAIT, COMPUTE, HIDDEN = "#c8503f", "#4f9d69", "#86b7e3"
# Where reads were served from, and bytes that nobody saw.
STORED, CACHED, UNSEEN = "#7d6b3f", "#d6c894", "#5d6673"
BETTER, WORSE = "#2f9e54", "#d0473e"
# What a chart points at, such as the slowest call; and the rest of it, which has no colour of its own.
ACCENT = "#b0447e"
LEVELS = ("#a8d5d8", "#5fb0b7", "#2b7f88")
# Of a step's time, by the names of its parts: those of the input wait are shades of its colour.
STEP_PARTS = {
    "worker_starts": "#6e241d",
    "storage": WAIT,
    "page_faults": "#96332a",
    "decoding": "#e08a7b",
    "other_wait": "#f0bfb6",
    "own_calls": READ,
    "compute": COMPUTE,
}
CLASS_COLOURS = (READ, WRITE, META)

# "Share chart" of plotly.js would post the figure to the vendor.
CONFIG: dict[str, Any] = {
    "displaylogo": False,
    "plotlyServerURL": "",
    "responsive": True,
    "showSendToCloud": False,
    "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"],
}

# Ticks with SI prefixes and their unit: "6MB/s", to which the page adds a blank.
BYTES_AXIS: dict[str, Any] = {"tickformat": "~s", "ticksuffix": "B", "rangemode": "tozero"}
RATE_AXIS: dict[str, Any] = BYTES_AXIS | {"ticksuffix": "B/s"}

# Durations of less than this have prefixes: 50 ms, but never 1 ks.
KILO_S = 1e3

LIGHT, DARK = "light", "dark"
INK = {LIGHT: "#20242a", DARK: "#e4e6ea"}
PAPER = {LIGHT: "#ffffff", DARK: "#22262c"}
GRID = {LIGHT: "#e3e6ea", DARK: "#3a4048"}
# From nothing to much, readable on either paper.
SCALES = {
    LIGHT: [[0, "#ffffff"], [0.001, "#e4eef9"], [0.35, "#7fb0e0"], [0.7, "#2f6db5"], [1, "#123a6b"]],
    DARK: [[0, "#22262c"], [0.001, "#253447"], [0.35, "#2f6db5"], [0.7, "#6fb0ee"], [1, "#e8f3ff"]],
}
# The same without the paper's colour: a box is always seen.
BOXES = {mode: [[0, scale[1][1]], *scale[2:]] for mode, scale in SCALES.items()}


def duration_axis(title: str, most_s: float) -> dict[str, Any]:
    """Return an axis of durations in seconds from 0 up to `most_s`; its ticks have their unit."""
    ticks = {"tickformat": "~s", "ticksuffix": "s"} if most_s < KILO_S else {"ticksuffix": " s"}
    return {"title": {"text": title}, "rangemode": "tozero"} | ticks


def template(mode: str) -> dict[str, Any]:
    """Return the template of "light" or "dark"; a page sets it as the layout's when it draws."""
    axis = {
        "gridcolor": GRID[mode],
        "linecolor": GRID[mode],
        "zerolinecolor": GRID[mode],
        "automargin": True,
        "title": {"standoff": 8},
    }
    return {
        "layout": {
            "font": {"family": "Roboto, 'Segoe UI', sans-serif", "size": 12, "color": INK[mode]},
            "paper_bgcolor": PAPER[mode],
            "plot_bgcolor": PAPER[mode],
            "colorway": [READ, WRITE, META, COMPUTE, WAIT],
            "colorscale": {"sequential": SCALES[mode]},
            "hoverlabel": {"align": "left"},
            "xaxis": axis,
            "yaxis": axis,
        },
        "data": {
            "heatmap": [{"colorscale": SCALES[mode], "colorbar": {"outlinewidth": 0, "thickness": 12}}],
            "treemap": [{"textfont": {"size": 13}, "marker": {"colorscale": BOXES[mode]}}],
        },
    }


def templates() -> dict[str, Any]:
    """Return both templates by name."""
    return {mode: template(mode) for mode in (LIGHT, DARK)}


def figure(data: Sequence[dict[str, Any]], *, height: int = 300, **layout: Any) -> Figure:
    """Return a figure of some traces; its layout has the house's margins and legend."""
    base: dict[str, Any] = {
        "height": height,
        "margin": {"l": 60, "r": 20, "t": 12, "b": 44},
        "legend": {
            "orientation": "h",
            "x": 0,
            "y": 1.02,
            "yanchor": "bottom",
            "xanchor": "left",
            "traceorder": "normal",
        },
        "hovermode": "closest",
    }
    return {"data": list(data), "layout": base | layout}


def escaped(text: str) -> str:
    """Return text for a label, which understands some HTML."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def plain(values: Any) -> list[Any]:
    """Return numbers as JSON has them: lists, with None for what is not a number."""
    array = np.asarray(values)
    if array.dtype.kind == "f":
        return np.where(np.isfinite(array), array, None).tolist()  # type: ignore[call-overload]
    listed: list[Any] = array.tolist()
    return listed


def seconds(values_ns: Any) -> list[Any]:
    """Return ns as seconds, to the nanosecond: a call that memory serves takes some hundreds of these."""
    return plain(np.round(np.asarray(values_ns, np.float64) / 1e9, 9))
