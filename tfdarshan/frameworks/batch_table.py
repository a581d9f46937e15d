"""Ties each batch to the worker that put it together, and to when that was.

Batch number k of a worker, within a pass, is what its k-th fetch of that pass put together: a worker takes
one request after the other, and begins to count anew with each pass.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tfdarshan.frameworks.batch_rows import FETCH, REQUEST, START, STOPPED, ProcessRows
from tfdarshan.frameworks.loaders import Loaders
from tfdarshan.native.spool_reader import Array

UNKNOWN = -1


def batch_table(
    processes: Sequence[ProcessRows], own: ProcessRows, loaders: Loaders, origin_ns: int
) -> dict[str, Array] | None:
    """Return a row for each batch that was requested, unless there was no more; None if there was none.

    The columns are those of `schema.BATCH_COLUMNS`.

    Args:
        processes: What the session's processes noted.
        own: The one whose loop takes the batches.
        loaders: Its loaders.
        origin_ns: When the session began, in ns since the epoch.
    """
    asked = own.rows[(own.rows["kind"] == REQUEST) & (own.rows["outcome"] != STOPPED)]
    if not len(asked):
        return None
    fetched = _in_the_loop(own, asked)
    _by_workers(fetched, asked, own, loaders, _fetches(processes, own.pid))
    return {
        "loader": loaders.places(asked),
        "epoch": loaders.epochs(asked),
        "batch": asked["ordinal"].astype(np.int64),
        "tid": asked["thread"].astype(np.int64),
        "request_ns": asked["begin_ns"] - origin_ns,
        "arrival_ns": asked["end_ns"] - origin_ns,
        "worker": asked["worker"].astype(np.int64),
        "fetch_pid": fetched["pid"],
        "fetch_tid": fetched["tid"],
        "fetch_start_ns": np.where(fetched["pid"] < 0, UNKNOWN, fetched["start_ns"] - origin_ns),
        "fetch_end_ns": np.where(fetched["pid"] < 0, UNKNOWN, fetched["end_ns"] - origin_ns),
        "queued": asked["queued"].astype(np.int64),
        "kept": asked["kept"].astype(np.int64),
    }


def _in_the_loop(own: ProcessRows, asked: Array) -> dict[str, Array]:
    """Return the fetches that the loop's own thread made while it waited for each batch."""
    found = {name: np.full(len(asked), UNKNOWN, np.int64) for name in ("pid", "tid", "start_ns", "end_ns")}
    for thread in np.unique(asked["thread"]).tolist():
        fetches = own.rows[(own.rows["kind"] == FETCH) & (own.rows["thread"] == thread)]
        mine = np.flatnonzero(asked["thread"] == thread)
        if not len(fetches):
            continue
        place = np.minimum(np.searchsorted(fetches["begin_ns"], asked["begin_ns"][mine]), len(fetches) - 1)
        inside = fetches["end_ns"][place] <= asked["end_ns"][mine]
        inside &= fetches["begin_ns"][place] >= asked["begin_ns"][mine]
        _put(found, mine[inside], own.pid, thread, fetches[place[inside]])
    return found


def _put(found: dict[str, Array], places: Array, pid: int, thread: int, fetches: Array) -> None:
    found["pid"][places], found["tid"][places] = pid, thread
    found["start_ns"][places], found["end_ns"][places] = fetches["begin_ns"], fetches["end_ns"]


def _fetches(processes: Sequence[ProcessRows], owner: int) -> dict[int, list[Array]]:
    """Return the fetches of each worker process, pass by pass in order of time."""
    found: dict[int, list[Array]] = {}
    for process in processes:
        if process.pid == owner:
            continue
        fetches = process.rows[(process.rows["kind"] == FETCH) & (process.rows["worker"] >= 0)]
        passes = [fetches[mine] for mine in _grouped(fetches["pass"]).values()]
        found.setdefault(process.pid, []).extend(sorted(passes, key=lambda one: int(one["begin_ns"][0])))
    return found


def _grouped(*columns: Array) -> dict[tuple[int, ...], Array]:
    """Return the places of the rows, in order, by what they have in some columns."""
    order = np.lexsort(columns[::-1])
    keys = np.stack([column[order] for column in columns])
    cuts = np.flatnonzero((keys[:, 1:] != keys[:, :-1]).any(axis=0)) + 1
    parts = np.split(np.arange(len(order)), cuts) if len(order) else []
    return {tuple(keys[:, part[0]].tolist()): order[part] for part in parts}


def _by_workers(
    fetched: dict[str, Array],
    asked: Array,
    own: ProcessRows,
    loaders: Loaders,
    fetches: dict[int, list[Array]],
) -> None:
    """Fill in the fetches of workers, pass by pass."""
    starts = own.rows[own.rows["kind"] == START]
    begun = dict(zip(starts["pass"].tolist(), starts["begin_ns"].tolist(), strict=True))
    asked_by = _grouped(asked["pass"], asked["worker"])
    for number in sorted(begun, key=lambda one: int(begun[one])):
        for worker, pid in enumerate(loaders.workers_of_pass.get(number, [])):
            left = fetches.get(pid, [])
            # A pass that was left early may never have had a batch of this worker fetched.
            while left and left[0]["begin_ns"][0] < begun[number]:
                left.pop(0)
            mine = asked_by.get((number, worker))
            if not left or mine is None:
                continue
            took = left.pop(0)[: len(mine)]
            _put(fetched, mine[: len(took)], pid, int(took["thread"][0]), took)
