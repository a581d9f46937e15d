"""Finds in TensorFlow's trace when the job asked for its next batch.

Source: TensorFlow's profiler records every run of the kernel IteratorGetNext, by Keras' loops and by a Python
`for` over a dataset alike.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tfdarshan.spool_reader import Array
from tfdarshan.xspace import Plane, Space
from tfdarshan.xspace_session import IO_PLANE

HOST_PLANE = "/host:CPU"
GET_NEXT = "IteratorGetNextOp::DoCompute"


def input_waits(trace: Path, session_ns: int) -> tuple[Array, Array]:
    """Gives start and end of each wait for the next batch, in ns since the session's start, int64.

    Waits that overlap, of several iterators, are one.

    Args:
        trace: TensorFlow's trace.
        session_ns: When, since the session's start, the part of it began that the trace shows.

    Raises:
        SessionDataError: The trace cannot be read.
    """
    space = Space(trace)
    host, calls = space.plane(HOST_PLANE), space.plane(IO_PLANE)
    if host is None or calls is None or not calls.lines:
        return _as_arrays([])
    # Both planes count from the start of TensorFlow's session; ours says where that is in the session.
    origin_ns = session_ns - calls.lines[0].timestamp_ns
    wanted = {number for number, name in host.event_names.items() if name == GET_NEXT}
    return _as_arrays(sorted(_events(space, host, wanted, origin_ns)))


def _events(space: Space, plane: Plane, wanted: set[int], origin_ns: int) -> list[tuple[int, int]]:
    found = []
    for line in plane.lines:
        for span in line.events:
            if space.event_number(span) in wanted:
                event = space.event(span)
                start_ns = origin_ns + line.timestamp_ns + event.start_ps // 1000
                found.append((start_ns, start_ns + event.duration_ps // 1000))
    return found


def _as_arrays(intervals: list[Any]) -> tuple[Array, Array]:
    merged: list[list[int]] = []
    for start_ns, end_ns in intervals:
        if merged and start_ns <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end_ns)
        else:
            merged.append([start_ns, end_ns])
    both = np.array(merged, np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]
