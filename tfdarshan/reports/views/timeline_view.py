"""Who did what when: heatmaps of the whole session, or of a window down to single calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from tfdarshan.analysis.calls.file_names import Named
from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.calls.queue_depth import mean_at_a_time, queue_depth
from tfdarshan.analysis.calls.segments import Blocks, Segments, joined_segments, stretched
from tfdarshan.analysis.calls.thinned_times import sample_sentence
from tfdarshan.analysis.files.directory import folders_of
from tfdarshan.analysis.time.activity import Activity, activity, activity_by_name
from tfdarshan.analysis.time.bandwidth import all_calls, bandwidth
from tfdarshan.analysis.time.untraced import NOT_TOLD_APART, unknown_from_ns, untraced_sums
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
from tfdarshan.reports.views.view_source import NO_TRACE, OF_PROCESSES, TIME_PARTS, Source
from tfdarshan.sessions.process_data import ProcessData
from tfdarshan.sessions.writing.time_bins import TimeBins, bins_over
from tfdarshan.units import human_seconds, plural

GROUPINGS = ("thread", "process", "role", "rank", "directory", "operation")
# Measures that are known as sums, of calls that were not kept.
OF_CALLS_AND_BYTES = ("bandwidth", "operations")
MEAN_DEPTH = "Queue depth: calls at a time, mean"
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
    found = _measured(_whole(source, shown.by), shown)
    if not found.names:
        # A job may read by page faults alone.
        bins = bins_over(*session_window(source), TIME_PARTS)
        return _faults(source, bins) or [Text([NO_TRACE], "Timeline")]
    heat = with_time_bands(activity_figure(found, shown.measure, bursts=source.marks), source.bands)
    note = " ".join(filter(None, [_note(found), _about_rows(source, shown, found)]))
    depth = _mean_depth(source.bandwidth["depth"].to_numpy(), found.bins)
    panels: list[Panel] = [Chart("activity", _title(shown), heat, note)]
    panels.append(Chart("depth", MEAN_DEPTH, depth, source.about_sums("calls at a time are")))
    return [*panels, *_faults(source, found.bins)]


def _measured(found: Activity, shown: Window) -> Activity:
    """Return the rows that have a measure: of calls that are known as a sum, no row has the time."""
    chosen = [
        shown.measure in OF_CALLS_AND_BYTES or name != NOT_TOLD_APART or shown.by in OF_PROCESSES
        for name in found.names
    ]
    return found.rows(np.flatnonzero(chosen))


def _about_rows(source: Source, shown: Window, found: Activity) -> str:
    """Say from when on rows are sums over all calls, or a sample."""
    if shown.by in OF_PROCESSES:
        return source.about_sums("values are")
    if shown.measure not in OF_CALLS_AND_BYTES:
        return sample_sentence(source.session.meta)
    said = source.about_sums("bytes and calls are")
    return f'{said} The row "{NOT_TOLD_APART}" has them.' if NOT_TOLD_APART in found.names else said


def _faults(source: Source, bins: TimeBins) -> list[Panel]:
    """Draw page faults on mapped files over time, which are no calls."""
    begins, ends = source.faults_ns
    if not len(begins):
        return []
    drawn = _mean_depth(mean_at_a_time(begins, ends, bins), bins)
    drawn["layout"]["yaxis"]["title"]["text"] = "threads in page faults"
    note = f"{plural(len(begins), 'page fault')} that were kept one by one; a window shows each."
    return [Chart("faults", "Page faults on mapped files: threads in one, mean", drawn, note)]


def _mean_depth(mean: Array, bins: TimeBins) -> Figure:
    """Draw the mean queue depth of the first parts of time."""
    edges = bins.edges_ns()
    start_ns, end_ns = edges[: len(mean)], edges[1 : len(mean) + 1]
    drawn = depth_figure(pd.DataFrame({"start_ns": start_ns, "end_ns": end_ns, "mean": mean, "most": mean}))
    drawn["data"] = drawn["data"][1:]
    drawn["layout"]["margin"] = TIMELINE_MARGIN
    drawn["layout"]["xaxis"] = TIME_AXIS | {"range": [edges[0] / 1e9, edges[-1] / 1e9]}
    return drawn


def _zoomed(source: Source, shown: Window, window_ns: tuple[int, int]) -> list[Panel]:
    segments, thinned, names = source.window(window_ns)
    drawn = joined_segments([segments, thinned])
    drawn = drawn.where(np.argsort(drawn.start_ns, kind="stable"))
    span = human_seconds((window_ns[1] - window_ns[0]) / 1e9)
    bins = bins_over(*window_ns, TIME_PARTS)
    steps, marks = _within(source.step_bounds, window_ns), _within(source.marks, window_ns)
    lines = _lines(source, segments.where(~segments.is_fault), bins, steps, marks)
    if len(drawn) == 0:
        return lines if source.about_sums("") else [Text([f"No calls ran in these {span}."], "Timeline")]
    faults = int(drawn.is_fault.sum())
    shown_calls = plural(len(drawn) - faults, "call")
    shown_calls += f", {plural(faults, 'page fault')}" if faults else ""
    threads = [source.row_names["thread"](thread) for thread in drawn.threads]
    if len(drawn) <= MOST_SINGLE_CALLS:
        title = f"{shown_calls} in {span}"
        note = f"Hover a bar for its file, offset and bytes.{_marked(steps)}"
        said = sample_sentence(source.session.meta)
        figure = calls_figure(drawn, names, threads, steps, marks)
    else:
        found = _measured(_grouped(source, segments, thinned, names, shown.by, bins), shown)
        title = f"{_title(shown)}, {shown_calls} in {span}"
        note, said = f"{_note(found)}{_marked(steps)}", _about_rows(source, shown, found)
        figure = activity_figure(found, shown.measure, steps, marks)
    figure = with_time_bands(_in_window(figure, window_ns), bands_within(source.bands, window_ns))
    return [Chart("activity", title, figure, f"{note} {said}".strip()), *lines]


def _lines(
    source: Source, calls: Segments, bins: TimeBins, steps: pd.DataFrame, marks: pd.DataFrame
) -> list[Panel]:
    """Draw the bandwidth and queue depth of a window, of all calls."""
    window_ns, others = (bins.start_ns, bins.end_ns), untraced_sums(source.processes, bins)
    table = all_calls(bandwidth(calls, bins), others, unknown_from_ns(source.session.meta))
    moved = _in_window(bandwidth_figure(table, steps, marks, steps), window_ns)
    about_moved, about_depth = map(source.about_sums, ("bytes per second are", "calls at a time are"))
    depth, title = depth_figure(queue_depth(calls, bins)), "Queue depth"
    if others.busy_ns.any() or len(table) < bins.count:
        depth, title = _mean_depth(table["depth"].to_numpy(), bins), MEAN_DEPTH
    return [
        Chart("window-bandwidth", "Bandwidth", moved, about_moved),
        Chart("depth", title, _in_window(depth, window_ns), about_depth),
    ]


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
    """Add up all calls, and the time that thinned ones stand for."""
    found = _by_directory(source.blocks, source.sample_blocks, source.files, bins)
    return source.with_untraced(found, "directory")


def _movers_first(found: Activity, by: str) -> Activity:
    """Put threads that moved no bytes, such as those that list folders, below those that did."""
    if by != "thread":
        return found
    return found.rows(np.argsort(found.bytes_moved.sum(axis=1) <= 0, kind="stable"))


def session_window(source: Source) -> tuple[int, int]:
    """Return the session's start and end, in ns."""
    metas = [process.meta for process in source.processes]
    start = min(meta["start_ns"] for meta in metas)
    return start, max(start + 1, *(meta["start_ns"] + meta["duration_ns"] for meta in metas))


def _grouped(
    source: Source, segments: Segments, thinned: Segments, files: Named, by: str, bins: TimeBins
) -> Activity:
    sample = stretched(thinned, source.processes).blocks
    if by in OF_PROCESSES:
        found = activity_by_name(segments, source.row_names[by], bins, source.most_rows(by))
    elif by == "thread":
        segments = replace(segments, threads=thinned.threads)
        found = activity_by_name(segments, source.row_names[by], bins, sample=sample)
    elif by == "directory":
        found = _by_directory(segments.blocks, sample, files, bins)
    else:
        names = [operation.name for operation in segments.operations]
        found = activity(segments.blocks, _operation_of, names, bins, sample=sample)
    return source.with_untraced(_movers_first(found, by), by)


def _operation_of(block: Segments) -> Array:
    return block.operation.astype(np.int32)


def _by_directory(blocks: Blocks, sample: Blocks, files: Named, bins: TimeBins) -> Activity:
    folders = folders_of(files.paths)
    names = [path or "(no file)" for path in folders.paths]
    return activity(blocks, lambda block: folders.of_file[block.file], names, bins, sample=sample)


def _title(shown: Window) -> str:
    words = {"bandwidth": "bytes per second", "operations": "calls per second"}
    return f"By {shown.by}: {words.get(shown.measure, MEASURES[shown.measure])}"


def _marked(steps: pd.DataFrame) -> str:
    """Describe what lines mark, if steps have some."""
    return " Dotted green lines: ends of steps." if 0 < len(steps) <= MOST_STEP_LINES else ""


def _note(found: Activity) -> str:
    return f"One column is {human_seconds(found.bins.bin_ns / 1e9)}."
