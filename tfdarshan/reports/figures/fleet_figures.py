"""Figures of a fleet of jobs: what its weeks lost, what file systems cost, and which groups lose most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfdarshan.fleet.job_groups import JobGroup
from tfdarshan.fleet.population import WeekTotal
from tfdarshan.fleet.trends import Change, Trend
from tfdarshan.reports.figures.theme import COMPUTE, META, READ, WAIT, WRITE, Figure, escaped, figure
from tfdarshan.units import human_seconds, shortened

LINES = (READ, WRITE, COMPUTE, META, WAIT)
MOST_LINES, WIDEST_NAME = 8, 30
# A bar on an axis of time is as wide as a part of it.
WEEK_MS = 7 * 24 * 3600 * 1000


def weeks_figure(weeks: Sequence[WeekTotal]) -> Figure:
    """Draw the node-hours that each week's jobs lose to I/O, and what share of all that is."""
    bar = {
        "type": "bar",
        "name": "lost to I/O",
        "x": [week.monday for week in weeks],
        "y": [round(week.lost_node_hours, 3) for week in weeks],
        "text": [f"{week.jobs:,} jobs, {week.node_hours:,.1f} node-hours" for week in weeks],
        "textposition": "none",
        "offset": 0,
        "width": 0.9 * WEEK_MS,
        "marker": {"color": WAIT},
        "hovertemplate": "week of %{x}: %{y:,.1f} of %{text}<extra></extra>",
    }
    return figure(
        [bar],
        xaxis={"type": "date", "hoverformat": "%Y-%m-%d"},
        yaxis={"title": {"text": "node-hours lost"}, "rangemode": "tozero"},
    )


def trend_figure(trends: Sequence[Trend], changes: Sequence[Change], unit: str) -> Figure:
    """Draw one figure of some mounts from week to week; a dotted line is where one changed."""
    traces = [_line(trend, place) for place, trend in enumerate(trends[:MOST_LINES])]
    marks = [
        {
            "type": "line", "xref": "x", "yref": "paper",
            "x0": change.since, "x1": change.since, "y0": 0, "y1": 1,
            "line": {"color": WAIT if change.ratio > 1 else COMPUTE, "dash": "dot", "width": 2},
        }
        for change in changes
    ]  # fmt: skip
    axis = {"title": {"text": unit}, "type": "log"}
    return figure(traces, xaxis={"type": "date"}, yaxis=axis, shapes=marks)


def groups_figure(groups: Sequence[JobGroup]) -> Figure:
    """Draw what groups lose, the worst on top."""
    shown = list(groups)[::-1]
    # Long names may end alike: each bar is at its whole name, and only what is written beside it is cut.
    names = [escaped(group.name) for group in shown]
    bar = {
        "type": "bar",
        "orientation": "h",
        "y": names,
        "x": [round(group.lost_node_hours, 3) for group in shown],
        "text": names,
        "textposition": "none",
        "marker": {"color": WAIT},
        "hovertemplate": "%{text}: %{x:,.1f} node-hours lost<extra></extra>",
    }
    written = [escaped(shortened(group.name, WIDEST_NAME)) for group in shown]
    return figure(
        [bar],
        height=max(160, 40 + 24 * len(shown)),
        xaxis={"title": {"text": "node-hours lost"}, "rangemode": "tozero"},
        yaxis={"type": "category", "tickmode": "array", "tickvals": names, "ticktext": written},
    )


def _line(trend: Trend, place: int) -> dict[str, Any]:
    """Draw a mount's line, dashed where its colour is also that of one before."""
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": escaped(shortened(trend.mount_point, WIDEST_NAME)),
        "x": [week.monday for week in trend.weeks],
        "y": [week.median for week in trend.weeks],
        "text": [f"{human_seconds(week.median)}, {week.jobs:,} jobs" for week in trend.weeks],
        "line": {
            "color": LINES[place % len(LINES)],
            "width": 2,
            "dash": "solid" if place < len(LINES) else "dash",
        },
        "hovertemplate": "week of %{x}: %{text}",
    }
