"""Who did what when: heatmaps of the whole session, or of a window down to single calls."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.activity import Activity, activity, activity_by_thread, activity_of_overview
from tfdarshan.analysis.bandwidth import bandwidth
from tfdarshan.analysis.queue_depth import queue_depth
from tfdarshan.analysis.segments import Segments
from tfdarshan.analysis.time_bins import bins_over
from tfdarshan.errors import ConfigurationError
from tfdarshan.figures.over_time import (
    MEASURES,
    TIME_AXIS,
    TIMELINE_MARGIN,
    activity_figure,
    bandwidth_figure,
    depth_figure,
)
from tfdarshan.figures.single_calls import calls_figure
from tfdarshan.figures.theme import Figure
from tfdarshan.units import human_seconds, plural
from tfdarshan.views.panel import Chart, Panel, Text
from tfdarshan.views.source import TIME_PARTS, Source

GROUPINGS = ("thread", "process", "directory", "operation")
# Up to so many calls, a window shows each of them.
MOST_SINGLE_CALLS = 2_000


@dataclass(frozen=True)
class Window:
    """What of the timeline is shown; times in ns since the session's start, None for all of it."""

    by: str = "thread"
    measure: str = "bandwidth"
    window_ns: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        for name, value, known in (("by", self.by, GROUPINGS), ("measure", self.measure, tuple(MEASURES))):
            if value not in known:
                raise ConfigurationError(f"{name} must be one of {', '.join(known)}, not {value!r}.")
        if self.window_ns is not None and not self.window_ns[0] < self.window_ns[1]:
            raise ConfigurationError("the window must end after it starts.")


def timeline_view(source: Source, shown: Window | None = None) -> list[Panel]:
    """Gives the panels of the whole session, or of a window of it."""
    shown = shown or Window()
    if shown.window_ns is not None:
        return _zoomed(source, shown, shown.window_ns)
    found = _whole(source, shown.by)
    if not found.names:
        return [Text(["No calls were traced: the session has counters only."], "Timeline")]
    heat = activity_figure(found, shown.measure, source.steps, source.marks)
    panels: list[Panel] = [Chart("activity", _title(shown), heat, _note(found))]
    panels.append(Chart("depth", "Queue depth: calls at a time, mean", activity_depth(found)))
    return panels


def activity_depth(found: Activity) -> Figure:
    """Draws the mean queue depth of an activity."""
    import pandas as pd

    edges = found.bins.edges_ns()
    mean = found.busy_ns.sum(axis=0) / found.bins.bin_ns
    drawn = depth_figure(
        pd.DataFrame({"start_ns": edges[:-1], "end_ns": edges[1:], "mean": mean, "most": mean})
    )
    drawn["data"] = drawn["data"][1:]
    drawn["layout"]["margin"] = TIMELINE_MARGIN
    drawn["layout"]["xaxis"] = TIME_AXIS | {"range": [edges[0] / 1e9, edges[-1] / 1e9]}
    return drawn


def _zoomed(source: Source, shown: Window, window_ns: tuple[int, int]) -> list[Panel]:
    segments = source.window(window_ns)
    span = human_seconds((window_ns[1] - window_ns[0]) / 1e9)
    if len(segments) == 0:
        return [Text([f"No calls ran in these {span}."], "Timeline")]
    bins = bins_over(*window_ns, TIME_PARTS)
    if len(segments) <= MOST_SINGLE_CALLS:
        title = f"{plural(len(segments), 'call')} in {span}"
        note = "Hover a bar for its file, offset and bytes."
        panels: list[Panel] = [
            Chart("activity", title, _in_window(calls_figure(segments, source.files), window_ns), note)
        ]
    else:
        found = _grouped(source, segments, shown.by, bins)
        figure = _in_window(activity_figure(found, shown.measure), window_ns)
        panels = [Chart("activity", f"{_title(shown)}, {plural(len(segments), 'call')} in {span}", figure)]
    nothing = source.steps.iloc[:0], source.marks.iloc[:0]
    moved = _in_window(bandwidth_figure(bandwidth(segments, bins), *nothing), window_ns)
    depth = _in_window(depth_figure(queue_depth(segments, bins)), window_ns)
    return [*panels, Chart("window-bandwidth", "Bandwidth", moved), Chart("depth", "Queue depth", depth)]


def _in_window(figure: dict[str, object], window_ns: tuple[int, int]) -> dict[str, object]:
    layout = figure["layout"]
    assert isinstance(layout, dict)
    layout["margin"] = TIMELINE_MARGIN
    layout["xaxis"] = layout["xaxis"] | {
        "range": [window_ns[0] / 1e9, window_ns[1] / 1e9],
        "rangemode": "normal",
    }
    return figure


def _whole(source: Source, by: str) -> Activity:
    if by == "directory":
        bins = bins_over(*session_window(source), TIME_PARTS)
        return source.cached("_by_directory", lambda: _grouped(source, source.segments, by, bins))  # type: ignore[no-any-return]
    return activity_of_overview(source.processes, by, TIME_PARTS)


def session_window(source: Source) -> tuple[int, int]:
    """Gives the session's start and end, in ns."""
    metas = [process.meta for process in source.processes]
    start = min(meta["start_ns"] for meta in metas)
    return start, max(start + 1, *(meta["start_ns"] + meta["duration_ns"] for meta in metas))


def _grouped(source: Source, segments: Segments, by: str, bins) -> Activity:  # type: ignore[no-untyped-def]
    if by == "thread":
        return activity_by_thread(segments, bins)
    if by == "directory":
        folders = source.directories
        names = [path or "(no file)" for path in folders.paths]
        return activity(segments, folders.of_file[segments.file], names, bins)
    if by == "operation":
        names = [operation.name for operation in segments.operations]
        return activity(segments, segments.operation.astype(np.int32), names, bins)
    names = [f"{thread.host}:{thread.pid}" for thread in segments.threads]
    unique = list(dict.fromkeys(names))
    of_thread = np.array([unique.index(name) for name in names] or [0], np.int32)
    return activity(segments, of_thread[segments.thread], unique, bins)


def _title(shown: Window) -> str:
    words = {"bandwidth": "bytes per second", "operations": "calls per second"}
    return f"By {shown.by}: {words.get(shown.measure, MEASURES[shown.measure])}"


def _note(found: Activity) -> str:
    return f"One column is {human_seconds(found.bins.bin_ns / 1e9)}."
