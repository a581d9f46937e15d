"""The calls that the timeline shows after a trace is full: all long ones, and a sample of the shorter ones.

A process's table "thinned" has them; its metadata says their resolution T. A call of T or longer is there in
any case. A shorter one is there with the probability of its duration over T, so it stands for T of time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.calls.overview_rows import CALL_COLUMNS, OverviewPart, calls_of, part_of_calls
from tfdarshan.analysis.calls.segments import READ, Segments
from tfdarshan.analysis.calls.thinned_times import TABLE, resolution_ns, stands_for_ns
from tfdarshan.analysis.time.activity import Activity
from tfdarshan.native.call_sums import PARTS_OF_A_CALL
from tfdarshan.sessions.process_data import ProcessData


def thinned_parts(processes: Sequence[ProcessData]) -> Iterator[tuple[int, OverviewPart]]:
    """Yield each process's place, and as its overview would say it what its thinned calls stand for.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    for place, process in enumerate(processes):
        if TABLE in process.meta["tables"]:
            yield place, _part(process)


def _part(process: ProcessData) -> OverviewPart:
    """Return it: time, bytes and calls are spread over what each call stands for, from its start on."""
    moved: list[tuple[SimpleNamespace, Array]] = []
    begun: list[tuple[SimpleNamespace, Array]] = []
    for calls, length in calls_of(process, process.batches(TABLE, CALL_COLUMNS)):
        whole_ns = stands_for_ns(calls.start_ns, calls.end_ns, resolution_ns(process.meta))
        times = np.maximum(whole_ns / np.maximum(calls.end_ns - calls.start_ns, 1), 1)
        calls.end_ns = calls.start_ns + whole_ns
        moved.append((calls, _rounded(length * times)))
        begun.append((calls, _rounded(PARTS_OF_A_CALL * times)))
    count = part_of_calls(process, begun).bytes_moved / PARTS_OF_A_CALL
    return replace(part_of_calls(process, moved), count=count)


def counted(drawn: Segments, stretched: Segments) -> Segments:
    """Return calls that move PARTS_OF_A_CALL bytes for each call that they stand for.

    Args:
        drawn: Calls.
        stretched: What these stand for, such as `load_window` returns with `stretched`.
    """
    times = (stretched.end_ns - stretched.start_ns) / np.maximum(drawn.end_ns - drawn.start_ns, 1)
    kinds = tuple(replace(operation, io_class=READ) for operation in stretched.operations)
    return replace(stretched, length=_rounded(PARTS_OF_A_CALL * np.maximum(times, 1)), operations=kinds)


def with_calls(found: Activity, of_counted: Activity) -> Activity:
    """Return the activity of stretched calls, with the number of calls by that of `counted` ones."""
    order = [of_counted.names.index(name) for name in found.names]
    return replace(found, calls=of_counted.bytes_moved[order] / PARTS_OF_A_CALL)


def _rounded(values: Array) -> Array:
    found: Array = np.rint(values).astype(np.int64)
    return found
