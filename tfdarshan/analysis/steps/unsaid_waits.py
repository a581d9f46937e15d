"""How long steps wait for their batch that do not say it, by the calls on input."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tfdarshan.analysis.calls.intervals import Array, covered
from tfdarshan.analysis.calls.segments import Segments, Thread
from tfdarshan.analysis.steps.input_pipeline import input_calls
from tfdarshan.analysis.steps.step_windows import StepWindows
from tfdarshan.thresholds import THRESHOLD


def with_waits(
    windows: StepWindows, calls: Segments, is_input: Array, is_loop: Callable[[Thread], bool]
) -> StepWindows:
    """Return steps that begin as they ask for their batch, with their waits.

    Steps that are marked around the loop's body alone wait between each other. A loop asks when the body
    before it ends, and its own other calls, such as saves; or when the first call comes that reads its batch:
    what is read in few pauses alone, as a validation set is, is no part of it. The first step's wait is not
    known.

    Args:
        windows: Steps that do not say what they wait for.
        calls: All calls in order of start.
        is_input: Which files are input.
        is_loop: Says which thread runs the loop.

    Returns:
        The same steps if nothing tells what they wait for.
    """
    rows, _ = input_calls(calls, is_input, windows)
    start_ns, end_ns, file = calls.start_ns[rows], calls.end_ns[rows], calls.file[rows]
    by_loop = np.array([is_loop(thread) for thread in calls.threads] or [False])[calls.thread]
    place = np.searchsorted(windows.start_ns, start_ns, side="right") - 1
    outside = start_ns >= windows.end_ns[place]
    own = by_loop[rows] & outside
    beside = read_in_pauses(file, place, outside, len(is_input), len(windows.start_ns))
    beside |= _in_front_of_batches(file[own], place[own], len(is_input))
    reading = ~beside[file]
    free_ns, begin_ns = windows.end_ns[:-1], windows.start_ns[1:]
    reached_ns = np.maximum.accumulate(end_ns[reading])
    # Of calls in order of start the first one that ends behind a moment runs then, or is the next one.
    next_ns = np.append(start_ns[reading], windows.span_ns[1])[
        np.searchsorted(reached_ns, free_ns, side="right")
    ]
    own = by_loop.copy()
    own[rows[reading]] = False
    busy_ns = _busy_until(windows, calls.start_ns[own], calls.end_ns[own])
    ask_ns = np.clip(np.maximum(next_ns, busy_ns), np.minimum(free_ns, begin_ns), begin_ns)
    waited_s = float((begin_ns - ask_ns).sum()) / 1e9
    if waited_s < THRESHOLD["rarely"] * windows.span_s:
        if by_loop[rows].any():
            return windows
        read_ns = covered(start_ns, end_ns).within(windows.start_ns, windows.end_ns)
        done_ns = windows.start_ns.copy()
        np.maximum.at(done_ns, place, end_ns)
        return _with_waits_within(windows, read_ns, np.minimum(done_ns, windows.end_ns))
    return StepWindows(
        np.append(windows.start_ns[0], ask_ns), windows.end_ns, windows.start_ns, windows.epoch
    )


def _with_waits_within(windows: StepWindows, read_ns: Array, done_ns: Array) -> StepWindows:
    """Return steps that have their request within, if they may: other threads read their batch.

    Steps that wait for it take as much longer as it takes longer, and the rest of each, which is computing
    then and follows it, is more alike. Steps as long as ever may have their batches ready, or reads that take
    as long as ever, and threads that read all the time tell nothing.

    Args:
        windows: The steps.
        read_ns: How long any thread read input in each.
        done_ns: When it was done with that.
    """
    step_ns = windows.end_ns - windows.start_ns
    if len(step_ns) < THRESHOLD["few"] or read_ns.sum() > THRESHOLD["most"] * step_ns.sum():
        return windows
    whole_ns, rest_ns, clearly = _spread(step_ns), _spread(step_ns - read_ns), 1 - THRESHOLD["clearly"]
    follows = 2 * (windows.end_ns - done_ns).sum() > (step_ns - read_ns).sum()
    return replace(windows, wait_end_ns=done_ns) if follows and rest_ns < clearly * whole_ns else windows


def _spread(values: Array) -> float:
    """Return how far values are from their median, the median of that: a first step may be another one."""
    return float(np.median(np.abs(values - np.median(values))))


def _busy_until(windows: StepWindows, start_ns: Array, end_ns: Array) -> Array:
    """Return when the last of some calls ends behind each step but the last one; 0 without any."""
    place = np.searchsorted(windows.start_ns, start_ns, side="right") - 1
    behind = (place >= 0) & (place < len(windows.start_ns) - 1) & (start_ns >= windows.end_ns[place])
    found = np.zeros(len(windows.start_ns) - 1, np.int64)
    np.maximum.at(found, place[behind], end_ns[behind])
    return found


def read_in_pauses(file: Array, step: Array, outside: Array, files: int, steps: int) -> Array:
    """Return which files are read between few steps alone, a validation set's, bool by row of the file table.

    Pauses behind most steps are waits for batches, and what is read in these is input.

    Args:
        file: The file of each call on input.
        step: The step that it is in, or behind.
        outside: Whether it is behind it.
        files: How many rows the file table has.
        steps: How many steps there are.
    """
    made, within = np.bincount(file, minlength=files), np.bincount(file[outside], minlength=files)
    only: Array = (made > 0) & (within >= THRESHOLD["most"] * made)
    pauses = np.unique(step[only[file]])
    # If nothing else is read, these are the input.
    told = bool(np.any(made[~only] > 0)) and 2 * len(pauses) < steps
    return only if told else np.zeros(files, bool)


def _in_front_of_batches(file: Array, step: Array, files: int) -> Array:
    """Return which files the loop reads in front of its batches alone, bool by row of the file table.

    Nearly all batches are of as many files. What a longer pause reads before as many is another set.

    Args:
        file: The file of each call that the loop makes between steps, in order of start.
        step: The step that it is behind.
        files: How many rows the file table has.
    """
    found: Array = np.zeros(files, bool)
    if not len(file):
        return found
    _, first = np.unique(step.astype(np.int64) * files + file, return_index=True)
    first.sort()
    file, step = file[first], step[first]
    count = np.bincount(step)
    read = count[count > 0]
    usual = float(np.median(read))
    if np.mean(np.abs(read - usual) <= THRESHOLD["hardly"] * usual) < THRESHOLD["most"]:
        return found
    found[file] = True
    from_last = np.cumsum(count)[step] - np.arange(len(step))
    found[file[from_last <= (1 + THRESHOLD["hardly"]) * usual]] = False
    return found
