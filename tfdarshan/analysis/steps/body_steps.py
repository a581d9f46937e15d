"""What steps wait for that are marked around the loop's body alone: the time between them."""

from __future__ import annotations

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.calls.segments import Segments
from tfdarshan.analysis.steps.input_pipeline import input_calls
from tfdarshan.analysis.steps.step_windows import StepWindows
from tfdarshan.thresholds import THRESHOLD


def waiting_bodies(windows: StepWindows, calls: Segments, is_input: Array) -> StepWindows:
    """Return steps that begin as they ask for their batch, and wait for it until their body begins.

    A loop asks when the body before it ends, or when the first call comes that reads its batch: what is read
    in few pauses alone, as a validation set is, is no part of it. The first step's wait is not known.

    Args:
        windows: Steps that do not say what they wait for.
        calls: All calls in order of start.
        is_input: Which files are input.

    Returns:
        The same steps if next to no time between them is spent so: the request may be within them.
    """
    rows, _ = input_calls(calls, is_input, windows)
    start_ns, end_ns, file = calls.start_ns[rows], calls.end_ns[rows], calls.file[rows]
    place = np.searchsorted(windows.start_ns, start_ns, side="right") - 1
    outside = start_ns >= windows.end_ns[place]
    reading = ~read_in_pauses(file, place, outside, len(is_input), len(windows.start_ns))[file]
    free_ns, begin_ns = windows.end_ns[:-1], windows.start_ns[1:]
    reached_ns = np.maximum.accumulate(end_ns[reading])
    # Of calls in order of start the first one that ends behind a moment runs then, or is the next one.
    next_ns = np.append(start_ns[reading], windows.span_ns[1])[
        np.searchsorted(reached_ns, free_ns, side="right")
    ]
    ask_ns = np.clip(next_ns, np.minimum(free_ns, begin_ns), begin_ns)
    waited_s = float((begin_ns - ask_ns).sum()) / 1e9
    if waited_s < THRESHOLD["rarely"] * windows.span_s:
        return windows
    return StepWindows(
        np.append(windows.start_ns[0], ask_ns), windows.end_ns, windows.start_ns, windows.epoch
    )


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
