"""Figures of single calls: who made which when, and where in a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from tfdarshan.analysis.calls.file_names import Named
from tfdarshan.analysis.calls.segments import CLASSES, Segments
from tfdarshan.analysis.time.activity import natural_order
from tfdarshan.reports.figures.over_time import TIME_AXIS, TIMELINE_MARGIN
from tfdarshan.reports.figures.theme import CLASS_COLOURS, STEP_PARTS, Figure, escaped, figure, plain
from tfdarshan.reports.figures.time_marks import mark_shapes
from tfdarshan.sessions.schema import FAULT_MODULE
from tfdarshan.units import exact_bytes, human_seconds, shortened

PATH_WIDTH = 90
# Of page faults on mapped files, beside the classes of calls.
FAULTS, FAULT_COLOUR = len(CLASSES), STEP_PARTS["page_faults"]


def calls_figure(
    segments: Segments,
    files: Named,
    names: Sequence[str],
    steps: pd.DataFrame | None = None,
    bursts: pd.DataFrame | None = None,
) -> Figure:
    """Draw every call, and page fault, as a bar, one row per thread; the label has file, offset and bytes.

    Args:
        segments: The calls.
        files: Their files.
        names: The names of their threads.
        steps: Steps to mark, as `bandwidth_figure` takes them.
        bursts: Checkpoints to mark.
    """
    rows = [names[code] for code in segments.thread.tolist()]
    by_thread = sorted(zip(segments.threads, names, strict=True), key=lambda pair: pair[0].place)
    seen = set(rows)
    used = [escaped(name) for name in natural_order(name for _, name in by_thread) if name in seen]
    traces = []
    kinds = np.where(segments.is_fault, FAULTS, segments.io_class)
    for code, name in enumerate((*CLASSES, "page fault") if segments.is_fault.any() else CLASSES):
        chosen = np.flatnonzero(kinds == code)
        start = segments.start_ns[chosen]
        traces.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": name,
                "base": plain(start / 1e9),
                "x": plain(np.maximum(segments.end_ns[chosen] - start, 1) / 1e9),
                "y": [escaped(rows[place]) for place in chosen.tolist()],
                "marker": {"color": (*CLASS_COLOURS, FAULT_COLOUR)[code], "line": {"width": 0}},
                "hovertext": call_labels(segments.where(chosen), files),
                "hovertemplate": "%{hovertext}<extra></extra>",
            }
        )
    return figure(
        traces,
        height=max(180, 90 + 22 * len(used)),
        shapes=mark_shapes(steps, bursts),
        barmode="overlay",
        margin=TIMELINE_MARGIN,
        xaxis=TIME_AXIS,
        yaxis={"type": "category", "categoryorder": "array", "categoryarray": used, "autorange": "reversed"},
    )


def offsets_figure(segments: Segments, files: Named) -> Figure:
    """Draw where in its file each call that moves bytes began, over time."""
    traces: list[dict[str, Any]] = []
    for code, name in enumerate(CLASSES[:2]):
        chosen = np.flatnonzero(segments.io_class == code)
        if len(chosen):
            part = segments.where(chosen)
            traces.append(
                {
                    "type": "scatter",
                    "mode": "markers",
                    "name": name,
                    "x": plain(part.start_ns / 1e9),
                    "y": plain(part.offset),
                    "marker": {"color": CLASS_COLOURS[code], "size": 5},
                    "hovertext": call_labels(part, files),
                    "hovertemplate": "%{hovertext}<extra></extra>",
                }
            )
    return figure(traces, xaxis=TIME_AXIS, yaxis={"title": {"text": "offset in the file, bytes"}})


def call_labels(segments: Segments, files: Named) -> list[str]:
    """Word each call: its kind, duration, bytes, offset and file."""
    paths = files.paths.take(pa.array(segments.file)).to_pylist()
    labels = []
    for place, path in enumerate(paths):
        operation = segments.operations[segments.operation[place]]
        taken = human_seconds((segments.end_ns[place] - segments.start_ns[place]) / 1e9)
        parts = [f"<b>{operation.name}</b> {taken} at {segments.start_ns[place] / 1e9:.6f} s"]
        if operation.io_class < len(CLASSES) - 1 or operation.module == FAULT_MODULE:
            offset = int(segments.offset[place])
            parts.append(
                exact_bytes(int(segments.length[place])) + (f" at {offset:,}" if offset >= 0 else "")
            )
        if segments.error[place]:
            parts.append(f"failed: errno {segments.error[place]}")
        labels.append("<br>".join([*parts, escaped(shortened(path, PATH_WIDTH))]))
    return labels
