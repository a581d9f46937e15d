"""What a job's writes cost its training loop: writes, syncs, and checkpoints that hold up steps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from tfdarshan.analysis.calls.call_kinds import KIND, kinds_of
from tfdarshan.analysis.calls.intervals import Array, covered
from tfdarshan.analysis.calls.segments import Segments
from tfdarshan.analysis.steps.step_windows import StepWindows
from tfdarshan.thresholds import THRESHOLD

# A step that computes this many times the median is held up by something.
HELD_UP = 1 + THRESHOLD["clearly"]
# So many saves tell whether steps are longer for them: if this share of the steps that save is held up, and
# of the others no more than the rest of it.
SAVES_THAT_TELL, MOST = THRESHOLD["steps"], THRESHOLD["most"]
# Whole steps fill so much of the time in which a save is written that goes on beside them.
BESIDE = 0.5


@dataclass(frozen=True)
class OutputCalls:
    """Writes and syncs between the first step's start and the last one's end; everywhere without steps.

    Attributes:
        chosen: Their places in the segments, which may be those of writes alone.
        sync: Which of them are syncs, bool.
        within: Which of them the training loop's own thread made, outside of its waits, bool.
    """

    chosen: Array
    sync: Array
    within: Array


def output_calls(segments: Segments, windows: StepWindows | None, loop: int) -> OutputCalls:
    """Pick the calls; `loop` is the thread that runs the training loop, as `loop_of` gives it."""
    kind = kinds_of(segments)
    mask = (kind == KIND["write"]) | (kind == KIND["sync"])
    if windows is not None:
        first, last = np.searchsorted(segments.start_ns, windows.span_ns).tolist()
        mask[:first] = False
        mask[last:] = False
    chosen = np.flatnonzero(mask & (segments.error == 0))
    within = segments.thread[chosen] == loop
    if windows is not None:
        within &= ~windows.waiting(segments.start_ns[chosen])
    return OutputCalls(chosen, kind[chosen] == KIND["sync"], within)


def stalled_s(
    segments: Segments, calls: OutputCalls, windows: StepWindows | None, bursts: pd.DataFrame
) -> Array:
    """Return what each burst of writes held up the training loop, in seconds, float64.

    That is the time of the loop's own writes in it; and, where steps are known, as much of the burst's time
    as steps that it reaches into took longer than steps do, or as lay between them.

    Args:
        segments: The session's calls.
        calls: Its writes.
        windows: Its steps.
        bursts: `checkpoint_bursts`.
    """
    own = segments.where(calls.chosen[calls.within])
    own_time = covered(own.start_ns, own.end_ns)
    start, end = bursts["start_ns"].to_numpy(np.int64), bursts["end_ns"].to_numpy(np.int64)
    certain = own_time.within(start, end) / 1e9
    if windows is None or len(windows.start_ns) <= 2:
        return np.asarray(certain, np.float64)
    lost = _lost_time(windows)
    writing = bursts["write_ns"].to_numpy(np.float64) / 1e9
    reached = map(lost.within_s, start.tolist(), end.tolist())
    held_up: Array = np.minimum(writing, np.fromiter(reached, np.float64, len(start)))
    return np.maximum(certain, held_up, dtype=np.float64)


def excess_s(windows: StepWindows | None, bursts: pd.DataFrame) -> float:
    """Return by how much all steps that some burst reaches into, or lies between, took longer than steps do.

    That is more than `stalled_s` where a save costs time before its first write or after its last one.

    Args:
        windows: The session's steps.
        bursts: `checkpoint_bursts`.

    Returns:
        Seconds; 0 where steps are not known.
    """
    if windows is None or len(windows.start_ns) <= 2:
        return 0.0
    lost = _lost_time(windows)
    return float(lost.lost_s[lost.touched_by(bursts)].sum())


def excess_is_theirs(windows: StepWindows | None, bursts: pd.DataFrame) -> bool:
    """Return whether steps take longer if a burst reaches into them, and hardly ever else.

    Then what they take longer is the save's as a whole, and not only while it writes: it copies what it
    saves, and describes it.

    Args:
        windows: The session's steps.
        bursts: `checkpoint_bursts`.
    """
    if windows is None or len(windows.start_ns) <= 2 or len(bursts) < SAVES_THAT_TELL:
        return False
    lost = _lost_time(windows)
    steps = np.arange(len(lost.lost_s)) < len(windows.start_ns)
    held, touched = lost.lost_s > 0, lost.touched_by(bursts)
    others = steps & ~touched
    each = np.mean(held[steps & touched]) >= MOST if (steps & touched).any() else False
    return bool(each and np.count_nonzero(held & others) <= (1 - MOST) * np.count_nonzero(others))


def goes_on_beside(windows: StepWindows | None, bursts: pd.DataFrame) -> bool:
    """Return whether training goes on while bursts are written: whole steps pass in most of their time.

    Steps that wait for a save end after it, whichever thread writes.

    Args:
        windows: The session's steps.
        bursts: `checkpoint_bursts`.
    """
    if windows is None or not len(bursts):
        return False
    start, end = bursts["start_ns"].to_numpy(np.int64), bursts["end_ns"].to_numpy(np.int64)
    first = np.searchsorted(windows.start_ns, start)
    last = np.maximum(np.searchsorted(windows.end_ns, end, side="right"), first)
    taken = np.concatenate([[0], np.cumsum(windows.end_ns - windows.start_ns)])
    return bool((taken[last] - taken[first]).sum() >= BESIDE * (end - start).sum())


@dataclass(frozen=True)
class _LostTime:
    """When steps were held up: intervals in order of time, and how many seconds of each."""

    start_ns: Array
    end_ns: Array
    lost_s: Array

    def touched(self, start_ns: int, end_ns: int) -> Array:
        """Return which intervals a stretch of time reaches into."""
        return (self.start_ns < end_ns) & (self.end_ns > start_ns)

    def touched_by(self, bursts: pd.DataFrame) -> Array:
        """Say the same of all bursts together."""
        touched = np.zeros(len(self.lost_s), bool)
        for start_ns, end_ns in zip(bursts["start_ns"].tolist(), bursts["end_ns"].tolist(), strict=True):
            touched |= self.touched(start_ns, end_ns)
        return touched

    def within_s(self, start_ns: int, end_ns: int) -> float:
        """Return what was lost in the intervals that a stretch of time reaches into, at most its length."""
        return min(float(self.lost_s[self.touched(start_ns, end_ns)].sum()), (end_ns - start_ns) / 1e9)


def _lost_time(windows: StepWindows) -> _LostTime:
    wait_end = windows.start_ns if windows.wait_end_ns is None else windows.wait_end_ns
    compute = (windows.end_ns - wait_end) / 1e9
    typical = float(np.median(compute))
    excess = np.where(compute > HELD_UP * typical, compute - typical, 0.0)
    gap_start, gap_end = windows.end_ns[:-1], windows.start_ns[1:]
    gaps = np.maximum(gap_end - gap_start, 0) / 1e9
    return _LostTime(
        np.concatenate([wait_end, gap_start]),
        np.concatenate([windows.end_ns, gap_end]),
        np.concatenate([excess, gaps]),
    )
