"""What a job's input pipeline did: its calls by kind, queue depth and thread, and beside the steps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from tfdarshan.analysis.call_kinds import KIND, CallGroup, group_calls, kinds_of
from tfdarshan.analysis.depth_levels import depth_levels
from tfdarshan.analysis.intervals import Array, union_ns
from tfdarshan.analysis.reader_count import ReaderCount, ThreadLives, count_readers
from tfdarshan.analysis.segments import Segments
from tfdarshan.analysis.step_windows import StepWindows, overlap_of

NOTHING = ReaderCount(1.0, 1.0, 1.0, 0.0)
WRITING = (KIND["write"], KIND["sync"])


@dataclass(frozen=True)
class InputPipeline:
    """Calls on input files between the first step's start and the last one's end; everywhere without steps.

    Attributes:
        calls: Them by kind.
        levels: `depth_levels` of them.
        readers: Who made them.
        union_s: Wall-clock time with at least one of them running.
        overlap: Share of the compute time in which the pipeline worked.
        chosen: Their places in the segments.
        kind: Their kinds, `call_kinds.CALL_KINDS`.
    """

    calls: dict[str, CallGroup]
    levels: pd.DataFrame
    readers: ReaderCount
    union_s: float
    overlap: float
    chosen: Array
    kind: Array


def input_pipeline(
    segments: Segments, is_input: Array, windows: StepWindows | None, loop_thread: int | None
) -> InputPipeline:
    """Looks at the calls.

    Args:
        segments: The session's calls.
        is_input: Which files of the table they were loaded with are input.
        windows: The steps, None if there are none.
        loop_thread: The thread that runs the training loop, an index into `segments.threads`.
    """
    kind = kinds_of(segments)
    mask = is_input[segments.file] & (kind != WRITING[0]) & (kind != WRITING[1])
    first, last = 0, len(segments)
    if windows is not None:
        first, last = np.searchsorted(segments.start_ns, windows.span_ns).tolist()
        mask[:first] = False
        mask[last:] = False
    chosen = np.flatnonzero(mask).astype(np.int32)
    del mask
    # Where all calls are input, as is usual, nothing is copied.
    rows: Array | slice = slice(first, last) if len(chosen) == last - first else chosen
    start, end = segments.start_ns[rows], segments.end_ns[rows]
    thread, length = segments.thread[rows], segments.length[rows]
    kind = kind[rows]
    within = thread == (-1 if loop_thread is None else loop_thread)
    if windows is not None and within.any():
        own = np.flatnonzero(within)
        within[own] = ~windows.waiting(start[own])
    groups = group_calls(kind, end - start, length, within)
    if len(chosen) == 0:
        empty = depth_levels(start, end, length)
        return InputPipeline(groups, empty, NOTHING, 0.0, 0.0, chosen, kind)
    levels = depth_levels(start, end, np.where(kind == KIND["read"], length, 0))
    overlap = 0.0 if windows is None else overlap_of(windows, start, end)
    busy = np.bincount(thread, end - start, minlength=len(segments.threads))
    active_s = (int(end.max()) - int(start[0])) / 1e9 if windows is None else windows.active_s(overlap)
    readers = count_readers(levels, busy, active_s, _lives(thread, start, end, len(busy)))
    return InputPipeline(groups, levels, readers, union_ns(start, end) / 1e9, overlap, chosen, kind)


def _lives(thread: Array, start_ns: Array, end_ns: Array, threads: int) -> ThreadLives:
    """Gives when each thread made its first call and ended its last one."""
    first = np.full(threads, int(end_ns.max()))
    last = np.full(threads, int(start_ns[0]))
    np.minimum.at(first, thread, start_ns)
    np.maximum.at(last, thread, end_ns)
    return ThreadLives(first, last)
