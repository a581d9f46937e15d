"""The standard questions about a session's calls, answered together, in bounded memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from tfdarshan.analysis.activity import Activity
from tfdarshan.analysis.call_details import CallDetails
from tfdarshan.analysis.call_durations import CallDurations, latency_of, wanted_cells
from tfdarshan.analysis.call_tables import (
    activity_of,
    bandwidth_of,
    busiest_threads,
    io_time_by,
    io_time_by_thread_of,
    metadata_share_of,
    queue_depth_of,
    threads_of,
)
from tfdarshan.analysis.call_totals import ALL, CallTotals, TotalsPartial
from tfdarshan.analysis.call_unions import UnionPartial
from tfdarshan.analysis.intervals import Array
from tfdarshan.analysis.metadata_share import MetadataShare
from tfdarshan.analysis.time_bins import TimeBins
from tfdarshan.analysis.time_windows import time_windows
from tfdarshan.analysis.wall_clock import WallClock, measure_wall_clock, partly_traced
from tfdarshan.analysis.window_calls import CALLS_AT_A_TIME
from tfdarshan.native.call_sums import UNION, UNITED
from tfdarshan.partials.protocol import Gathered
from tfdarshan.partials.serial import SERIAL, Runner, answered
from tfdarshan.sessions.process_data import ProcessData
from tfdarshan.units import plural


@dataclass(frozen=True)
class CallAnswers:
    """What calls were; tables as the functions of their names describe them.

    `left_out` says what they lack, as each process that read some of the calls ended.
    """

    clock: WallClock
    bandwidth: pd.DataFrame
    activity: Activity
    queue_depth: pd.DataFrame
    by_operation: pd.DataFrame
    by_thread: pd.DataFrame
    by_process: pd.DataFrame
    by_mount: pd.DataFrame
    by_directory: pd.DataFrame
    latency: pd.DataFrame
    metadata: MetadataShare
    left_out: tuple[str, ...] = ()


def call_answers(
    processes: Sequence[ProcessData],
    bins: TimeBins,
    runner: Runner = SERIAL,
    calls_at_a_time: int = CALLS_AT_A_TIME,
) -> CallAnswers:
    """Answers them.

    Args:
        processes: The session's processes.
        bins: Parts of time.
        runner: What reads the calls.
        calls_at_a_time: How many are in memory at a time, about, in each process that reads.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    windows = time_windows(processes, calls_at_a_time)
    gathered = runner.gather(CallTotals(bins), windows)
    totals = gathered.partial
    shown, threads = busiest_threads(totals), threads_of(totals, processes)
    again = runner.gather(CallDetails(wanted_cells(totals.durations), shown, bins), windows)
    # Of a window that was read once only, nothing is known exactly.
    details = again.partial if again.lost <= gathered.lost else None
    unions = Gathered(_unions(totals, processes), gathered.lost)
    clock = measure_wall_clock(processes, unions=unions)
    return CallAnswers(
        clock=clock,
        bandwidth=bandwidth_of(totals, bins),
        activity=activity_of(again.partial, shown, threads, bins),
        queue_depth=queue_depth_of(totals, bins),
        by_operation=io_time_by(totals, "operation"),
        by_thread=io_time_by_thread_of(totals, threads),
        by_process=io_time_by(totals, "process"),
        by_mount=io_time_by(totals, "mount"),
        by_directory=io_time_by(totals, "folder"),
        latency=latency_of(totals.durations, _operations(processes), details),
        metadata=metadata_share_of(totals, clock),
        left_out=_words(gathered.lost, again.lost),
    )


def _words(lost: tuple[str, ...], lost_again: tuple[str, ...]) -> tuple[str, ...]:
    """Says what was left out: of windows that nobody read, and of those that were read once only."""
    once = tuple(name for name in lost_again if name not in lost)
    ended = "each process that read them ended"
    said = [f"{_named(lost)} are missing from what is said of calls: {ended}"] if lost else []
    if once:
        said.append(
            f"percentiles are too low by one part in 512 at most, and {_named(once)} are missing from what "
            f"threads did when: {ended}"
        )
    return tuple(said)


def _named(windows: tuple[str, ...]) -> str:
    more = f" and {plural(len(windows) - 1, 'more window')}" if len(windows) > 1 else ""
    return f"{windows[0]}{more}"


def latency_by_windows(processes: Sequence[ProcessData], runner: Runner = SERIAL) -> pd.DataFrame:
    """Gives `latency` of all calls, which `runner` reads.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    windows, no_time = time_windows(processes, CALLS_AT_A_TIME), TimeBins(0, 1, 0)
    totals = answered(CallDurations(), windows, runner)
    details = answered(CallDetails(wanted_cells(totals), (), no_time), windows, runner)
    return latency_of(totals, _operations(processes), details)


def _operations(processes: Sequence[ProcessData]) -> list[str]:
    names = [entry["name"] for process in processes for entry in process.operations]
    return list(dict.fromkeys(names))


def _unions(totals: TotalsPartial, processes: Sequence[ProcessData]) -> UnionPartial:
    """Gives the unions of all processes, and of those whose calls do not all have a segment."""

    def lengths(row: Array) -> tuple[int, ...]:
        return (int(row[UNION]), *map(int, row[UNITED]))

    apart = [lengths(totals.groups["place"].row(place)) for place in partly_traced(processes)]
    return UnionPartial(lengths(totals.groups["session"].row(ALL)), tuple(apart))
