"""The calls that the plug-in drew in a trace, as columns.

A trace has up to 200,000 of them: Python only gathers their numbers, one after the other, and NumPy does the
rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfdarshan.native import _bridge
from tfdarshan.native.spool_reader import EVENT_DTYPES, Array
from tfdarshan.sessions.traces.xspace import Plane, Space, text

IO_THREAD = "I/O thread"
FIRST_FILE_STAT = 100  # csrc/tensorflow/io_plane_ids.h
STATS = ("errno", "file", "new name", "mode", "offset", "size", "bytes", "stands for ns")
NUMBERS_OF_CALL, NUMBERS_OF_STAT = 5, 2
MOST_MOVED = 1 << 62  # bytes, by all calls: sums of them are numbers of 64 bits


def read_calls(space: Space, plane: Plane, window_start_ns: int) -> dict[str, Array]:
    """Return the segments of the I/O plane in order of their start, with the columns of EVENT_DTYPES.

    Thinned calls are not among them: findings would take the sample for all calls.

    Args:
        space: The trace.
        plane: Its I/O plane.
        window_start_ns: When, since the session's start, the part of it began that the trace shows.

    Raises:
        SessionDataError: A call has a stat without a number, or a number that no session has.
    """
    (line, event, start_ps, duration_ps, stat_count), (stat, value) = _numbers(space, plane)
    kind = _looked_up(stat, plane.stat_names, STATS)
    call_of_stat = np.repeat(np.arange(len(line)), stat_count)

    def stats(default: int, *names: str) -> Array:
        column = np.full(len(line), default, np.int64)
        for name in names:
            chosen = kind == STATS.index(name)
            column[call_of_stat[chosen]] = value[chosen]
        return column

    operations = [operation.name for operation in _bridge.operations()]
    start_ns = window_start_ns + start_ps // 1000
    new_name, moved = stats(-1, "new name"), stats(0, "bytes")
    if np.abs(moved.astype(np.float64)).sum() > MOST_MOVED:
        raise space.damaged()
    columns = {
        "start_ns": start_ns,
        "end_ns": start_ns + duration_ps // 1000,
        "tid": np.where(line >> 31 != 0, line - (1 << 32), line),
        "operation": _looked_up(event, plane.event_names, operations),
        "flags": np.zeros(len(line), np.int64),
        "error": stats(0, "errno"),
        "file": stats(FIRST_FILE_STAT, "file") - FIRST_FILE_STAT,
        "offset": np.where(new_name < 0, stats(-1, "mode", "offset"), new_name - FIRST_FILE_STAT),
        "length": stats(0, "size", "bytes"),
    }
    known = np.flatnonzero((columns["operation"] >= 0) & (stats(0, "stands for ns") == 0))
    order = known[np.argsort(start_ns[known], kind="stable")]
    return {name: _as_type(space, columns[name][order], dtype) for name, dtype in EVENT_DTYPES.items()}


def _numbers(space: Space, plane: Plane) -> tuple[Array, Array]:
    """Return the numbers of calls (line, event, start, duration, stats), and of their stats (stat, value)."""
    calls: list[int] = []
    stats: list[int] = []
    for line in plane.lines:
        if not text(line.name).startswith(IO_THREAD):
            continue
        for event in line.events:
            of_event = event.stats
            calls += (line.id, event.metadata_id, event.offset_ps, event.duration_ps, len(of_event))
            for stat in of_event:
                stats += (stat.metadata_id, stat.int64_value or stat.ref_value or _zero(space, stat))
    try:
        return (
            np.array(calls, np.int64).reshape(-1, NUMBERS_OF_CALL).T,
            np.array(stats, np.int64).reshape(-1, NUMBERS_OF_STAT).T,
        )
    except OverflowError as error:
        raise space.damaged() from error


def _zero(space: Space, stat: Any) -> int:
    if stat.WhichOneof("value") not in ("int64_value", "ref_value"):
        raise space.damaged()
    return 0


def _looked_up(numbers: Array, names: dict[int, str], known: Sequence[str]) -> Array:
    """Return the place in `known` of the name that each number stands for, -1 if it is not there."""
    code_of = {name: code for code, name in enumerate(known)}
    different, place = np.unique(numbers, return_inverse=True)
    codes = [code_of.get(names.get(number, ""), -1) for number in different.tolist()]
    return np.array(codes, np.int64)[place]


def _as_type(space: Space, column: Array, dtype: Any) -> Array:
    bounds = np.iinfo(dtype)
    if len(column) and not bounds.min <= column.min() <= column.max() <= bounds.max:
        raise space.damaged()
    return column.astype(dtype)
