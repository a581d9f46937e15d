"""Finds in TensorFlow's trace when the job asked for its next batch.

Source: TensorFlow's profiler records every run of the kernel IteratorGetNext, by Keras' loops and by a Python
`for` over a dataset alike. With several steps an execution Keras runs IteratorGetNextAsOptional.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from tfdarshan.native.spool_reader import Array
from tfdarshan.sessions.process_data import ProcessData
from tfdarshan.sessions.rank_folder import logdir_of
from tfdarshan.sessions.traces.batch_waits import AskedBatch, BatchWaits, batch_waits
from tfdarshan.sessions.traces.xspace import ANY_MARK, Plane, Space, holds_mark
from tfdarshan.sessions.traces.xspace_session import IO_PLANE

HOST_PLANE = "/host:CPU"
GET_NEXT = ("IteratorGetNextOp::DoCompute", "IteratorGetNextAsOptionalOp::DoCompute")
ROOT = "Iterator::Root"
# A pipeline's last stage is Iterator::Root::Prefetch, the one before it Iterator::Root::Prefetch::Batch.
LAST_STAGE = 2
MOST_NS = 1 << 62


def trace_beside(owner: ProcessData) -> tuple[Path, int] | None:
    """Return the trace beside a session, and when the part of the session began that it shows.

    That is in ns since the session's start. None where there is no trace, or another process wrote over it.
    """
    about = owner.meta.get("tensorflow")
    if not about:
        return None
    trace = logdir_of(owner.directory) / str(about["trace"])
    mark = about.get("mark")
    if mark and not holds_mark(trace, str(mark)) and holds_mark(trace, ANY_MARK):
        return None
    return trace, int(about["start_ns"])


def input_waits(trace: Path, session_ns: int) -> BatchWaits:
    """Return the waits for batches, in ns since the session's start.

    Args:
        trace: TensorFlow's trace.
        session_ns: When, since the session's start, the part of it began that the trace shows.

    Raises:
        SessionDataError: The trace cannot be read.
    """
    space = Space(trace)
    host, origin_ns = space.plane(HOST_PLANE), origin_of(space, session_ns)
    if host is None or origin_ns is None:
        return batch_waits([])
    asked = [batch for line in host.lines for batch in _asked(host, line, origin_ns)]
    if any(abs(time_ns) > MOST_NS for batch in asked for time_ns in (batch.start_ns, batch.end_ns)):
        raise space.damaged()
    return batch_waits(asked)


def _asked(plane: Plane, line: Any, origin_ns: int) -> Iterator[AskedBatch]:
    """Yield what a thread asked for: the iterator's event, and its last stage's, lie within the kernel's."""
    names = plane.event_names
    events = [event for event in line.events if _is_asking(names.get(event.metadata_id, ""))]
    events.sort(key=lambda event: (event.offset_ps, -event.duration_ps))
    begun = [place for place, event in enumerate(events) if names[event.metadata_id] in GET_NEXT]
    for first, last in pairwise([*begun, len(events)]):
        kernel = events[first]
        start_ns = origin_ns + line.timestamp_ns + kernel.offset_ps // 1000
        inner = [
            one for one in events[first + 1 : last] if one.offset_ps < kernel.offset_ps + kernel.duration_ps
        ]
        stage = next((names[one.metadata_id] for one in inner if names[one.metadata_id] != ROOT), "")
        iterator = next((_stat(plane, one, "id") for one in inner if names[one.metadata_id] == ROOT), None)
        looks = stage, _stat(plane, kernel, "element_size")
        yield AskedBatch(start_ns, start_ns + kernel.duration_ps // 1000, iterator, looks)


def _is_asking(name: str) -> bool:
    return name in (*GET_NEXT, ROOT) or (name.startswith(f"{ROOT}::") and name.count("::") == LAST_STAGE)


def _stat(plane: Plane, event: Any, name: str) -> Hashable:
    """Return a stat of an event, None if it has none of that name."""
    values = (
        getattr(stat, kind)
        for stat in event.stats
        if plane.stat_names.get(stat.metadata_id) == name and (kind := stat.WhichOneof("value"))
    )
    return next(values, None)


def origin_of(space: Space, session_ns: int) -> int | None:
    """Return the time, since the session's start, that a trace's planes count from; None if it has no calls.

    All planes count from the start of TensorFlow's session; ours says where that is in the session.
    """
    calls = space.plane(IO_PLANE)
    return session_ns - calls.lines[0].timestamp_ns if calls is not None and calls.lines else None


def events_of(space: Space, plane: Plane, wanted: set[int], origin_ns: int) -> list[tuple[int, int]]:
    """Return start and end, since the session's start, of a plane's events of some numbers.

    Raises:
        SessionDataError: One is at a time that no session has.
    """
    found = []
    for line in plane.lines:
        for event in line.events:
            if event.metadata_id in wanted:
                start_ns = origin_ns + line.timestamp_ns + event.offset_ps // 1000
                found.append((start_ns, start_ns + event.duration_ps // 1000))
    if any(abs(time_ns) > MOST_NS for interval in found for time_ns in interval):
        raise space.damaged()
    return found


def merged_intervals(intervals: list[tuple[int, int]]) -> tuple[Array, Array]:
    """Return starts and ends of intervals in order of time, those that overlap as one, int64."""
    merged: list[list[int]] = []
    for start_ns, end_ns in sorted(intervals):
        if merged and start_ns <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end_ns)
        else:
            merged.append([start_ns, end_ns])
    both = np.array(merged, np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]
