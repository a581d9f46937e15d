"""The time in calls after a trace is full: that of all long calls, and of a sample of the shorter ones.

A process's table "thinned" has them; its metadata says their resolution T. A call of T or longer is there in
any case. A shorter one is there with the probability of its duration over T, so it stands for T of time. A
file's first open is there besides, and stands for itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from tfdarshan.analysis.calls.overview_rows import CALL_COLUMNS, OverviewPart, calls_of, part_of_calls
from tfdarshan.analysis.calls.thinned_times import TABLE, resolution_ns
from tfdarshan.sessions.process_data import ProcessData
from tfdarshan.sessions.schema import FIRST_OPEN


def thinned_parts(processes: Sequence[ProcessData]) -> Iterator[tuple[int, OverviewPart]]:
    """Yield each process's place, and the time that its thinned calls stand for, as an overview would say it.

    Calls and bytes are 0: they cannot be told from a sample.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    for place, process in enumerate(processes):
        if TABLE in process.meta["tables"]:
            yield place, _part(process)


def _part(process: ProcessData) -> OverviewPart:
    least_ns, found = resolution_ns(process.meta), []
    for batch in process.batches(TABLE, (*CALL_COLUMNS, "flags")):
        stands_for_ns = np.where(batch.column("flags").to_numpy() & FIRST_OPEN, 0, least_ns)
        for calls, length in calls_of(process, [batch]):
            calls.end_ns = np.maximum(calls.end_ns, calls.start_ns + stands_for_ns)
            found.append((calls, np.zeros_like(length)))
    part = part_of_calls(process, found)
    return replace(part, count=np.zeros_like(part.count))
