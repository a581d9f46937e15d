"""Who did what when: heatmaps of the whole session, or of a window down to single calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd

from tfdarshan.analysis.calls.file_names import Named
from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.calls.queue_depth import mean_at_a_time, queue_depth
from tfdarshan.analysis.calls.segments import Segments
from tfdarshan.analysis.calls.thinned_times import sample_sentence
from tfdarshan.analysis.files.directory import folders_of
from tfdarshan.analysis.time.activity import Activity, Blocks, activity, activity_by_name
from tfdarshan.analysis.time.bandwidth import bandwidth
from tfdarshan.analysis.time.thinned_activity import counted, with_calls
from tfdarshan.errors import ConfigurationError
from tfdarshan.reports.figures.over_time import (
    MEASURES,
    TIME_AXIS,
    TIMELINE_MARGIN,
    activity_figure,
    bandwidth_figure,
    depth_figure,
)
from tfdarshan.reports.figures.single_calls import calls_figure
from tfdarshan.reports.figures.theme import Figure
from tfdarshan.reports.figures.time_marks import MOST_STEP_LINES, with_time_bands
from tfdarshan.reports.views.epoch_bands import bands_within
from tfdarshan.reports.views.panel import Chart, Panel, Text
from tfdarshan.reports.views.view_source import NO_TRACE, TIME_PARTS, Source
from tfdarshan.sessions.process_data import ProcessData
from tfdarshan.sessions.writing.time_bins import TimeBins, bins_over
from tfdarshan.units import human_seconds, plural

GROUPINGS = ("thread", "process", "role", "rank", "directory", "operation")
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


def groupings(processes: Sequence[ProcessData]) -> list[str]:
    """Return what the calls of some processes can be grouped by, first what they are unless one chooses.

    That is by rank if there are several, which else is left out.
    """
    several = len({process.rank for process in processes}) > 1
    others = [by for by in GROUPINGS if by != "rank"]
    return ["rank", *others] if several else others


def timeline_view(source: Source, shown: Window | None = None) -> list[Panel]:
    """Return the panels of the whole session, or of a window of it."""
    shown = shown or Window(groupings(source.processes)[0])
    if shown.window_ns is not None:
        return _zoomed(source, shown, shown.window_ns)
    found = _whole(source, shown.by)
    if not found.names:
        # A job may read by page faults alone.
        bins = bins_over(*session_window(source), TIME_PARTS)
        return _faults(source, bins) or [Text([NO_TRACE], "Timeline")]
    heat = with_time_bands(activity_figure(found, shown.measure, bursts=source.marks), source.bands)
    note = " ".join(filter(None, [_note(found), sample_sentence(source.session.meta)]))
    panels: list[Panel] = [Chart("activity", _title(shown), heat, note)]
    panels.append(Chart("depth", "Queue depth: calls at a time, mean", activity_depth(found)))
    return [*panels, *_faults(source, found.bins)]


def _faults(source: Source, bins: TimeBins) -> list[Panel]:
    """Draw page faults on mapped files over time, which are no calls."""
    begins, ends = source.faults_ns
    if not len(begins):
        return []
    drawn = _mean_depth(mean_at_a_time(begins, ends, bins), bins)
    drawn["layout"]["yaxis"]["title"]["text"] = "threads in page faults"
    note = f"{plural(len(begins), 'page fault')} that were kept one by one; a window shows each."
    return [Chart("faults", "Page faults on mapped files: threads in one, mean", drawn, note)]


def activity_depth(found: Activity) -> Figure:
    """Draw the mean queue depth of an activity."""
    return _mean_depth(found.busy_ns.sum(axis=0) / found.bins.bin_ns, found.bins)


def _mean_depth(mean: Array, bins: TimeBins) -> Figure:
    edges = bins.edges_ns()
    drawn = depth_figure(
        pd.DataFrame({"start_ns": edges[:-1], "end_ns": edges[1:], "mean": mean, "most": mean})
    )
    drawn["data"] = drawn["data"][1:]
    drawn["layout"]["margin"] = TIMELINE_MARGIN
    drawn["layout"]["xaxis"] = TIME_AXIS | {"range": [edges[0] / 1e9, edges[-1] / 1e9]}
    return drawn


def _zoomed(source: Source, shown: Window, window_ns: tuple[int, int]) -> list[Panel]:
    segments, names = source.window(window_ns)
    span = human_seconds((window_ns[1] - window_ns[0]) / 1e9)
    if len(segments) == 0:
        return [Text([f"No calls ran in these {span}."], "Timeline")]
    faults = segments.is_fault
    shown_calls = plural(len(segments) - int(faults.sum()), "call")
    shown_calls += f", {plural(int(faults.sum()), 'page fault')}" if faults.any() else ""
    bins = bins_over(*window_ns, TIME_PARTS)
    threads = [source.row_names["thread"](thread) for thread in segments.threads]
    steps, marks = _within(source.step_bounds, window_ns), _within(source.marks, window_ns)
    said = sample_sentence(source.session.meta)
    stretched = source.window(window_ns, stretched=True)[0] if said else segments
    if len(segments) <= MOST_SINGLE_CALLS:
        title = f"{shown_calls} in {span}"
        note = f"Hover a bar for its file, offset and bytes.{_marked(steps)}"
        figure = _in_window(calls_figure(segments, names, threads, steps, marks), window_ns)
        panels = [Chart("activity", title, figure, note)]
    else:
        found = _grouped(source, stretched, names, shown.by, bins)
        if said:
            found = with_calls(found, _grouped(source, counted(segments, stretched), names, shown.by, bins))
        figure = _in_window(activity_figure(found, shown.measure, steps, marks), window_ns)
        title = f"{_title(shown)}, {shown_calls} in {span}"
        panels = [Chart("activity", title, figure, f"{_note(found)}{_marked(steps)}")]
    bands = bands_within(source.bands, window_ns)
    noted = f"{panels[0].note} {said}".strip()
    panels[0] = replace(panels[0], figure=with_time_bands(panels[0].figure, bands), note=noted)
    calls = stretched.where(~faults)
    moved = _in_window(bandwidth_figure(bandwidth(calls, bins), steps, marks, steps), window_ns)
    depth = _in_window(depth_figure(queue_depth(calls, bins)), window_ns)
    return [*panels, Chart("window-bandwidth", "Bandwidth", moved), Chart("depth", "Queue depth", depth)]


def _within(table: pd.DataFrame, window_ns: tuple[int, int]) -> pd.DataFrame:
    """Return the steps or checkpoints that overlap a window."""
    return table[(table["start_ns"] < window_ns[1]) & (table["end_ns"] >= window_ns[0])]


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
        return source.cached("_by_directory", lambda: _whole_by_directory(source, bins))
    return _movers_first(source.activity(by), by)


def _whole_by_directory(source: Source, bins: TimeBins) -> Activity:
    """Add up all calls, and what thinned ones stand for."""
    if not sample_sentence(source.session.meta):
        return _by_directory(source.timeline_blocks, source.files, bins)
    stretched = partial(source.timeline_blocks, stretched=True)

    def of_counted() -> Iterator[Segments]:
        return map(counted, source.timeline_blocks(), stretched())

    found = _by_directory(stretched, source.files, bins)
    return with_calls(found, _by_directory(of_counted, source.files, bins))


def _movers_first(found: Activity, by: str) -> Activity:
    """Put threads that moved no bytes, such as those that list folders, below those that did."""
    if by != "thread":
        return found
    order = np.argsort(found.bytes_moved.sum(axis=1) <= 0, kind="stable")
    return replace(
        found,
        names=[found.names[place] for place in order],
        calls=found.calls[order],
        bytes_moved=found.bytes_moved[order],
        busy_ns=found.busy_ns[order],
    )


def session_window(source: Source) -> tuple[int, int]:
    """Return the session's start and end, in ns."""
    metas = [process.meta for process in source.processes]
    start = min(meta["start_ns"] for meta in metas)
    return start, max(start + 1, *(meta["start_ns"] + meta["duration_ns"] for meta in metas))


def _grouped(source: Source, segments: Segments, files: Named, by: str, bins: TimeBins) -> Activity:
    if by in source.row_names:
        return _movers_first(activity_by_name(segments, source.row_names[by], bins), by)
    if by == "directory":
        return _by_directory(segments.blocks, files, bins)
    names = [operation.name for operation in segments.operations]
    return activity(segments.blocks, lambda block: block.operation.astype(np.int32), names, bins)


def _by_directory(blocks: Blocks, files: Named, bins: TimeBins) -> Activity:
    folders = folders_of(files.paths)
    names = [path or "(no file)" for path in folders.paths]
    return activity(blocks, lambda block: folders.of_file[block.file], names, bins)


def _title(shown: Window) -> str:
    words = {"bandwidth": "bytes per second", "operations": "calls per second"}
    return f"By {shown.by}: {words.get(shown.measure, MEASURES[shown.measure])}"


def _marked(steps: pd.DataFrame) -> str:
    """Describe what lines mark, if steps have some."""
    return " Dotted green lines: ends of steps." if 0 < len(steps) <= MOST_STEP_LINES else ""


def _note(found: Activity) -> str:
    return f"One column is {human_seconds(found.bins.bin_ns / 1e9)}."
