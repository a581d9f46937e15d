"""Figures over time: bandwidth, queue depth, who did what when."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from tfdarshan.analysis.time.activity import Activity
from tfdarshan.reports.figures.theme import (
    ACCENT,
    BYTES_AXIS,
    CACHED,
    COMPUTE,
    EMPTY,
    HIDDEN,
    LEVELS,
    RATE_AXIS,
    READ,
    STORED,
    WAIT,
    WRITE,
    Figure,
    duration_axis,
    escaped,
    figure,
    plain,
    seconds,
)
from tfdarshan.reports.figures.time_marks import mark_shapes, wait_shapes
from tfdarshan.units import human_bytes, human_seconds

# The page puts a blank before the unit; the colour bar leaves room for it.
ROOM_FOR_BLANK = "B/s\N{NO-BREAK SPACE}"
TIME_AXIS = {"title": {"text": "time since the session's start, s"}, "rangemode": "nonnegative"}
FEW_STEPS, MOST_STEPS, STEP_BINS = 10, 1_000, 60
# Charts below one another have their moments below one another.
TIMELINE_MARGIN = {"l": 130, "r": 130, "t": 12, "b": 44}
MEASURES = {
    "bandwidth": "bandwidth",
    "operations": "calls per second",
    "busy": "busy: share of time in calls",
    "depth": "calls at a time",
}


def bandwidth_figure(
    table: pd.DataFrame, waits: pd.DataFrame, bursts: pd.DataFrame, steps: pd.DataFrame | None = None
) -> Figure:
    """Draw `bandwidth`, with shading for input wait, and mark where steps end and checkpoints begin.

    Args:
        table: What `analysis.bandwidth` gives.
        waits: The steps whose waits are shaded, as `analysis.step_time` gives them; empty for none.
        bursts: What `analysis.checkpoint_bursts` gives; empty for none.
        steps: Steps to mark, as `waits`.
    """
    middle = (table["start_ns"] + table["end_ns"]) / 2
    traces = [
        _area("read", READ, middle, table["read_bytes_per_s"]),
        _area("written", WRITE, middle, table["write_bytes_per_s"]),
    ]
    shapes = [*wait_shapes(waits), *mark_shapes(steps, bursts)]
    return figure(
        traces,
        shapes=shapes,
        hovermode="x unified",
        xaxis=TIME_AXIS,
        yaxis={"title": {"text": "bandwidth"}} | RATE_AXIS,
    )


def depth_figure(table: pd.DataFrame) -> Figure:
    """Draw `queue_depth`."""
    middle = seconds((table["start_ns"] + table["end_ns"]) / 2)
    mean = {
        "type": "scatter",
        "mode": "lines",
        "name": "mean",
        "x": middle,
        "y": plain(table["mean"].round(3)),
        "line": {"color": LEVELS[1], "width": 1.5},
        "fill": "tozeroy",
    }
    most = {
        "type": "scatter",
        "mode": "lines",
        "name": "highest",
        "x": middle,
        "y": plain(table["most"]),
        "line": {"color": ACCENT, "width": 1, "shape": "hvh"},
    }
    return figure(
        [most, mean],
        height=220,
        hovermode="x unified",
        xaxis=TIME_AXIS,
        yaxis={"title": {"text": "calls at a time"}, "rangemode": "tozero"},
    )


def activity_figure(
    found: Activity, measure: str, steps: pd.DataFrame | None = None, bursts: pd.DataFrame | None = None
) -> Figure:
    """Draw the activity as a heatmap: one row per name, one column per part of time.

    Args:
        found: The activity.
        measure: "bandwidth", "operations", "busy" or "depth".
        steps: Steps to mark, as `bandwidth_figure` takes them.
        bursts: Checkpoints to mark.
    """
    part_s = found.bins.bin_ns / 1e9
    values = {
        "bandwidth": found.bytes_moved / part_s,
        "operations": found.calls / part_s,
        "busy": np.minimum(found.busy_ns / found.bins.bin_ns, 1.0),
        "depth": found.busy_ns / found.bins.bin_ns,
    }[measure]
    edges = found.bins.edges_ns()
    heat = {
        "type": "heatmap",
        "x": seconds((edges[:-1] + edges[1:]) / 2),
        "y": [escaped(name) for name in found.names],
        "z": [plain(np.round(row, 4)) for row in values],
        "zmin": 0,
        "hoverongaps": False,
        "hovertemplate": "%{y}<br>%{x:.4f} s: %{z:,.3~s}<extra></extra>",
        "colorbar": {"tickformat": ".3~s"}
        # Where the ticks have a unit, that says what is drawn.
        | (
            {"ticksuffix": ROOM_FOR_BLANK}
            if measure == "bandwidth"
            else {"title": {"text": MEASURES[measure], "side": "right"}}
        ),
    }
    return figure(
        [heat],
        height=max(180, 90 + 20 * len(found.names)),
        shapes=mark_shapes(steps, bursts),
        margin=TIMELINE_MARGIN,
        xaxis=TIME_AXIS | {"showgrid": False},
        yaxis={"autorange": "reversed", "type": "category", "showgrid": False},
    )


def means_of_steps(table: pd.DataFrame, most: int = MOST_STEPS) -> tuple[pd.DataFrame, int]:
    """Return means of so many consecutive steps, 1 where they are few, that no more than `most` are drawn.

    The index of a mean is the middle of its steps.
    """
    size = max(1, math.ceil(len(table) / most))
    if size == 1:
        return table, 1
    groups = np.arange(len(table)) // size
    means = table.groupby(groups).mean(numeric_only=True)
    means.index = pd.Index(pd.Series(table.index.to_numpy(float)).groupby(groups).mean().to_numpy())
    return means, size


def steps_figure(table: pd.DataFrame, *, io_known: bool = True) -> Figure:
    """Draw `step_time`: input wait and compute stacked, I/O as a line where it is known.

    Args:
        table: What `analysis.step_time` gives, or means of it, with `io_ns` NaN where that is unknown, and
            `untold_ns`: the time of steps that do not say how long they waited, 0 of others.
        io_known: Whether the I/O of steps is known.
    """
    names = plain(table.index)
    drawn = table.assign(compute_ns=table["compute_ns"] - table["untold_ns"])

    def bar(name: str, column: str, colour: str) -> dict[str, Any]:
        return {
            "type": "bar",
            "name": name,
            "x": names,
            "y": seconds(drawn[column]),
            "marker": {"color": colour},
            "hovertemplate": f"step %{{x}}: {name} %{{y:.4f}} s<extra></extra>",
        }

    line = {
        "type": "scatter",
        "mode": "lines+markers",
        "name": "I/O (wall clock)",
        "x": names,
        "y": seconds(table["io_ns"]),
        "line": {"color": READ, "width": 1.5},
        "marker": {"size": 4},
        "hovertemplate": "step %{x}: I/O %{y:.4f} s<extra></extra>",
    }
    bars = [bar("input wait", "input_wait_ns", WAIT), bar("compute and the rest", "compute_ns", COMPUTE)]
    if drawn["untold_ns"].any():
        bars.append(bar("steps that do not say how long they waited", "untold_ns", EMPTY))
    return figure(
        [*bars, line] if io_known else bars,
        barmode="stack",
        bargap=0.1 if len(table) < 100 else 0,
        xaxis=_step_axis(table.index),
        yaxis=duration_axis("a step", float(table["step_ns"].max()) / 1e9),
    )


def step_times_figure(table: pd.DataFrame) -> Figure:
    """Draw how many steps took how long, on a logarithmic axis: a first step takes far longer."""
    lasted_ms = np.maximum(table["step_ns"].to_numpy() / 1e6, 1e-3)
    edges = np.geomspace(lasted_ms.min() * 0.99, lasted_ms.max() * 1.01, STEP_BINS + 1)
    counts, _ = np.histogram(lasted_ms, edges)
    held = np.flatnonzero(counts)
    bars = {
        "type": "bar",
        "x": plain(np.round(np.sqrt(edges[held] * edges[held + 1]), 6)),
        "width": plain(np.round(np.diff(edges)[held], 6)),
        "y": plain(counts[held]),
        "marker": {"color": LEVELS[1]},
        "text": [
            f"{human_seconds(low / 1e3)} to {human_seconds(high / 1e3)}: {count:,}"
            for low, high, count in zip(edges[held], edges[held + 1], counts[held], strict=True)
        ],
        "textposition": "none",
        "hovertemplate": "%{text}<extra></extra>",
    }
    return figure(
        [bars],
        height=220,
        xaxis={
            "type": "log", "title": {"text": "time of a step"}, "ticksuffix": " ms", "exponentformat": "none",
        },
        yaxis={"title": {"text": "steps"}, "rangemode": "tozero"},
    )  # fmt: skip


def overlap_figure(table: pd.DataFrame) -> Figure:
    """Draw how much of each step's I/O may have been waited for, and how much ran beside compute."""
    bars = [
        _step_bar(name, table.index, seconds(table[column]), colour, "%{y:.4f} s")
        for name, column, colour in (
            ("waited for, at most", "exposed_io_ns", WAIT),
            ("beside compute, at least", "hidden_io_ns", HIDDEN),
        )
    ]
    return figure(
        bars,
        height=240,
        barmode="stack",
        xaxis=_step_axis(table.index),
        yaxis=duration_axis("I/O of a step", _most_s(table)),
    )


def _most_s(table: pd.DataFrame) -> float:
    return float((table["exposed_io_ns"] + table["hidden_io_ns"]).max()) / 1e9


def step_storage_figure(steps: pd.Index[Any], table: pd.DataFrame) -> Figure:
    """Draw `storage_by_step`, named by its steps: reads from storage and page cache."""
    from_storage = table["asked_bytes"] - table["cached_bytes"]
    bars = [
        _step_bar("from storage", table.index, plain(from_storage), STORED, "%{y:,.0f} B"),
        _step_bar("from the page cache", table.index, plain(table["cached_bytes"]), CACHED, "%{y:,.0f} B"),
    ]
    return figure(
        bars,
        height=240,
        barmode="stack",
        xaxis=_step_axis(steps),
        yaxis={"title": {"text": "read"}} | BYTES_AXIS,
    )


def _step_axis(steps: pd.Index[Any]) -> dict[str, Any]:
    """Return an axis that all charts of the same steps share, so that a step is below itself."""
    first, last = int(steps.min()), int(steps.max())
    axis: dict[str, Any] = {"title": {"text": "step"}, "range": [first - 0.7, last + 0.7]}
    # Between few steps plotly marks halves of steps, too.
    return axis | ({"tick0": first, "dtick": 1} if last - first < FEW_STEPS else {})


def _step_bar(name: str, steps: Any, values: list[Any], colour: str, worded: str) -> dict[str, Any]:
    return {
        "type": "bar",
        "name": name,
        "x": plain(steps),
        "y": values,
        "marker": {"color": colour},
        "hovertemplate": f"step %{{x}}: {worded} {name}<extra></extra>",
    }


def checkpoints_figure(bursts: pd.DataFrame) -> Figure:
    """Draw each burst as a bar from its start to its end, as high as it is large."""
    start, end = bursts["start_ns"].to_numpy(), bursts["end_ns"].to_numpy()
    about = [
        f"{escaped(row.name_)}<br>{human_bytes(row.bytes)} in {row.writes:,} writes to {row.files:,} files"
        f"<br>{human_seconds(row.write_ns / 1e9)} in write calls"
        for row in bursts.rename(columns={"name": "name_"}).itertuples()
    ]
    bar = {
        "type": "bar",
        "x": seconds((start + end) / 2),
        "width": seconds(np.maximum(end - start, 1)),
        "y": plain(bursts["bytes"]),
        "marker": {"color": WRITE, "line": {"color": WRITE, "width": 2}},
        "hovertext": about,
        "hovertemplate": "%{hovertext}<extra></extra>",
    }
    return figure(
        [bar],
        xaxis=TIME_AXIS,
        yaxis={"title": {"text": "written"}} | BYTES_AXIS,
    )


def _area(name: str, colour: str, middle_ns: Any, rate: Any) -> dict[str, Any]:
    exact = [f"{human_bytes(value)}/s" for value in rate]
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": seconds(middle_ns),
        "y": plain(np.round(rate, 1)),
        "line": {"color": colour, "width": 1.5},
        "fill": "tozeroy",
        "text": exact,
        "hovertemplate": "%{text}",
    }
