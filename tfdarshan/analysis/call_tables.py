"""Tables of what calls were, made of their totals: the same as those that are made of all calls at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from tfdarshan.analysis.activity import OTHERS, ROWS, Activity
from tfdarshan.analysis.bandwidth import bandwidth_table
from tfdarshan.analysis.call_details import DetailsPartial
from tfdarshan.analysis.call_totals import ALL, TotalsPartial
from tfdarshan.analysis.intervals import Array
from tfdarshan.analysis.metadata_share import MetadataShare
from tfdarshan.analysis.segments import CLASSES, META, READ, WRITE, Thread
from tfdarshan.analysis.spread_calls import bytes_of, rounded_bytes
from tfdarshan.analysis.time_bins import TimeBins
from tfdarshan.analysis.wall_clock import WallClock
from tfdarshan.analysis.window_calls import ThreadKey
from tfdarshan.native.call_sums import (
    BIN_BUSY_NS,
    BIN_CALLS,
    CALLS,
    LASTED,
    MOVED,
    UNION,
    UNITED,
)
from tfdarshan.sessions.process_data import ProcessData

TIMES = ("io_ns", *(f"{name}_ns" for name in CLASSES))
COLUMNS = ("calls", "bytes_read", "bytes_written", *TIMES, "thread_ns")


def io_time_by(totals: TotalsPartial, by: str) -> pd.DataFrame:
    """Gives what each group of calls did, the busiest first.

    Args:
        totals: The totals.
        by: One of `call_totals.BY`.

    Returns:
        One row per group, by its name: `calls`, `bytes_read`, `bytes_written`; `io_ns`, `read_ns`,
        `write_ns`, `meta_ns`, the wall-clock time with at least one call (of that class) running;
        `thread_ns`, all calls' durations added up. All int64.
    """
    found = totals.groups[by]
    rows = found.rows
    calls, moved, lasted = rows[:, CALLS], rows[:, MOVED], rows[:, LASTED]
    values = [
        calls.sum(axis=1), moved[:, READ], moved[:, WRITE], rows[:, UNION], *rows[:, UNITED].T,
        lasted.sum(axis=1),
    ]  # fmt: skip
    table = pd.DataFrame(
        dict(zip(COLUMNS, values, strict=True)), index=pd.Index(found.names, tupleize_cols=False)
    )
    return table.sort_values("io_ns", ascending=False, kind="stable")


def io_time_by_thread_of(totals: TotalsPartial, threads: dict[ThreadKey, Thread]) -> pd.DataFrame:
    """Gives `io_time_by` thread, the busiest first; index: (host, pid, tid, name)."""
    table = io_time_by(totals, "thread")
    named = [threads[key] for key in table.index]
    columns = [[getattr(thread, name) for thread in named] for name in ("host", "pid", "tid", "name")]
    table.index = pd.MultiIndex.from_arrays(columns, names=("host", "pid", "tid", "name"))
    return table


def threads_of(totals: TotalsPartial, processes: Sequence[ProcessData]) -> dict[ThreadKey, Thread]:
    """Gives the threads that made calls, with their names."""
    found = {}
    for key in totals.groups["thread"].names:
        place, pid, tid = key
        meta = processes[place].meta
        names = {thread["tid"]: thread["name"] for thread in meta.get("threads", ())}
        found[key] = Thread(meta["host"], pid, tid, names.get(tid, ""), place)
    return found


def bandwidth_of(totals: TotalsPartial, bins: TimeBins) -> pd.DataFrame:
    """Gives `bandwidth`."""
    calls = totals.over_time.rows[..., BIN_CALLS].sum(axis=0) + np.zeros(bins.count, np.int64)
    moved = np.stack([rounded_bytes(totals.over_time.row(io_class)) for io_class in (READ, WRITE)])
    return bandwidth_table(bins, calls, moved)


def queue_depth_of(totals: TotalsPartial, bins: TimeBins) -> pd.DataFrame:
    """Gives `queue_depth`."""
    edges = bins.edges_ns()
    busy = totals.over_time.rows[..., BIN_BUSY_NS].sum(axis=0) + np.zeros(bins.count, np.int64)
    columns = {
        "start_ns": edges[:-1], "end_ns": edges[1:], "mean": busy / bins.bin_ns,
        "most": np.array(totals.most, np.int64),
    }  # fmt: skip
    return pd.DataFrame(columns)


def metadata_share_of(totals: TotalsPartial, clock: WallClock) -> MetadataShare:
    """Gives it: counts and thread time from the segments, wall-clock time as the summary has it."""
    row = totals.groups["session"].row(ALL)
    calls, lasted = row[CALLS], row[LASTED]
    total = int(lasted.sum())
    share = int(lasted[META]) / total if total else None
    return MetadataShare(int(calls[META]), int(calls.sum()), clock.meta_s, clock.io_s, share)


def busiest_threads(totals: TotalsPartial, most: int = ROWS) -> tuple[ThreadKey, ...]:
    """Gives the threads that are told apart: those that spent most time in calls."""
    found = totals.groups["thread"]
    order = np.argsort(-found.rows[:, LASTED].sum(axis=1), kind="stable")
    return tuple(found.names[place] for place in order[:most].tolist())


def activity_of(
    details: DetailsPartial, shown: Sequence[ThreadKey], threads: dict[ThreadKey, Thread], bins: TimeBins
) -> Activity:
    """Gives the activity of the busiest threads."""
    several = len({(thread.host, thread.pid) for thread in threads.values()}) > 1
    names = [f"{t.pid}/{t.label}" if several else t.label for t in (threads[key] for key in shown)]
    places = range(len(shown) + (len(threads) > len(shown)))
    rows = np.stack([details.over_time.row(place) for place in places]) if places else _no_rows(bins)
    names += [OTHERS] * (len(places) - len(shown))
    calls, busy = (rows[..., column].astype(np.float64) for column in (BIN_CALLS, BIN_BUSY_NS))
    return Activity(bins, names, calls, bytes_of(rows), busy)


def _no_rows(bins: TimeBins) -> Array:
    return np.zeros((0, bins.count, 4), np.int64)
