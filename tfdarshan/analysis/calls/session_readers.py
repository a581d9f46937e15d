"""How many readers a session without a trace of its calls has: what the overview says, else the processes.

With a trace `input_pipeline` counts them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.calls.overview_rows import overview_parts
from tfdarshan.analysis.calls.reader_count import ThreadLives, threads_at_a_time
from tfdarshan.native import _bridge
from tfdarshan.sessions.process_data import ProcessData


def untraced_readers(processes: Sequence[ProcessData]) -> float:
    """Gives how many read at a time, of all processes together, at least 1.

    Args:
        processes: The processes.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    busy_ns, lives = _reading_threads(processes)
    if busy_ns.any():
        return threads_at_a_time(busy_ns, lives)
    return _readers_of_processes(processes)


def _reading_threads(processes: Sequence[ProcessData]) -> tuple[Array, ThreadLives]:
    """Gives the threads' time in other calls than writes, and when these were, to within a bin."""
    busy: list[Array] = [np.zeros(0)]
    first: list[Array] = [np.zeros(0, np.int64)]
    last: list[Array] = [np.zeros(0, np.int64)]
    for part in overview_parts(processes):
        reads = _no_writes(part.operation)[part.operation_code]
        # What is gathered under 0 is many threads; the busiest stand for them. A log's thread 0 is one.
        reads &= (part.tid != 0) | ("darshan" in part.process.meta) | (part.tid == 0).all()
        tids, place = np.unique(part.tid[reads], return_inverse=True)
        start_ns = part.start_ns[reads]
        busy.append(np.bincount(place, part.busy_ns[reads], minlength=len(tids)))
        first.append(np.full(len(tids), np.iinfo(np.int64).max))
        last.append(np.zeros(len(tids), np.int64))
        np.minimum.at(first[-1], place, start_ns)
        np.maximum.at(last[-1], place, start_ns + part.bin_ns)
    return (np.concatenate(busy), ThreadLives(np.concatenate(first), np.concatenate(last)))


def _readers_of_processes(processes: Sequence[ProcessData]) -> float:
    """Gives processes at a time, by the calls that each has at a time while one is running.

    Of a log without a trace it is the ranks: nothing says how many threads they have.
    """
    logs = [process.meta["darshan"] for process in processes if "darshan" in process.meta]
    if logs:
        ranks = [rank for log in logs for rank in log["ranks"]]
        return float(max(1, logs[0]["processes"] if -1 in ranks else len(ranks)))
    metas = [process.meta for process in processes]
    thread_ns = np.array([meta["time"]["thread_ns"] or 0 for meta in metas], np.float64)
    io_ns = sum(meta["time"]["io_ns"] or 0 for meta in metas)
    if io_ns <= 0:
        return 1.0
    spans_ns = [_span_ns(meta) for meta in metas]
    lives = ThreadLives(*(np.array(moments, np.int64) for moments in zip(*spans_ns, strict=True)))
    together = max(1.0, float(thread_ns.sum()) / io_ns)
    return together * threads_at_a_time(thread_ns, lives)


def _span_ns(meta: dict[str, Any]) -> tuple[int, int]:
    """Gives when a process made its first call and its last one, or else when it was recorded."""
    times, start_ns = meta["time"], int(meta["start_ns"])
    first_ns, last_ns = times.get("first_event_ns"), times.get("last_event_ns")
    if first_ns is None or last_ns is None:
        return start_ns, start_ns + int(meta["duration_ns"])
    return start_ns + int(first_ns), start_ns + int(last_ns)


def _no_writes(operations: Sequence[str]) -> Array:
    """Says which kinds of call are no writes or syncs, bool."""
    writes = {known.name for known in _bridge.operations() if known.io_class == "write"}
    return np.array([name not in writes for name in operations] or [False], bool)
