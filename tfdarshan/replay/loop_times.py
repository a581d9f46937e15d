"""When the training loop asked for each batch, got it, and was done with it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.steps.read_bursts import LEAST_PAUSE_NS, parting_rests
from tfdarshan.analysis.steps.step_windows import StepWindows
from tfdarshan.replay.job_model import TINY_S
from tfdarshan.replay.priors import SETTING
from tfdarshan.sessions.schema import UNKNOWN


@dataclass(frozen=True)
class LoopTimes:
    """Batches in order; seconds, one entry per batch.

    Attributes:
        ask_s: When the loop asked for it.
        got_s: When it got it.
        stop_s: When its step ended.
        known: Whether the session says so; else bursts of reads are taken for batches.
        last_s: When it was done with what followed its last step, such as validation or a last checkpoint.
        asked_s: When it asked, if batches are asked for when the GPU has nothing left to do; else None.
    """

    ask_s: Array
    got_s: Array
    stop_s: Array
    known: bool
    last_s: float = 0.0
    asked_s: Array | None = None

    @property
    def next_s(self) -> Array:
        """When the loop asked for the next one; of the last one when it was done."""
        return np.append(self.ask_s[1:], max(self.stop_s[-1], self.last_s))

    @property
    def hidden_s(self) -> Array:
        """What of each step the loop waits in for the next batch, while the GPU works on."""
        if self.asked_s is None:
            return np.zeros(len(self.ask_s))
        return np.append(np.maximum(self.stop_s[:-1] - self.asked_s[1:], 0.0), 0.0)

    @property
    def request_s(self) -> Array:
        """When it asked for the next one, if the GPU worked on then; else as `next_s`."""
        return self.next_s if self.asked_s is None else np.append(self.asked_s[1:], self.next_s[-1])

    def place(self, at_s: Array) -> Array:
        """Return the batch that the loop last asked for at each moment, 0 before the first."""
        return np.clip(np.searchsorted(self.ask_s, at_s, side="right") - 1, 0, len(self.ask_s) - 1)

    @property
    def total_s(self) -> float:
        """From the first request to the end."""
        return float(self.next_s[-1] - self.ask_s[0])


def loop_times(
    windows: StepWindows | None,
    start_s: Array,
    end_s: Array,
    last_s: float,
    *,
    epochs: int = 1,
    loop_reads: bool = False,
) -> LoopTimes:
    """Return them.

    Args:
        windows: The steps, None if there are none. What does not say what it waits for may be anywhere.
        start_s: Starts of the calls on input, ascending.
        end_s: Their ends.
        last_s: When the session ended.
        epochs: How often the input was read.
        loop_reads: Whether the loop's own thread makes nearly all calls: it waits in these, within its steps.
    """
    if windows is not None and (windows.wait_end_ns is not None or loop_reads):
        got_ns = windows.start_ns if windows.wait_end_ns is None else windows.wait_end_ns
        return _of_steps(windows, got_ns, epochs)
    if len(start_s) < 2:
        return LoopTimes(np.array([0.0]), np.array([0.0]), np.array([max(last_s, TINY_S)]), False)
    return _of_bursts(start_s, np.maximum.accumulate(end_s), last_s)


def _of_steps(windows: StepWindows, got_ns: Array, epochs: int) -> LoopTimes:
    ask_s, got_s, stop_s = windows.start_ns / 1e9, got_ns / 1e9, windows.end_ns / 1e9
    # The last request of an epoch gets nothing: no step follows it. What is in no epoch, while others are, is
    # another data set, that nothing is trained on.
    epoch, computed_s = windows.epoch, stop_s - got_s
    steps = computed_s >= SETTING["no_step"] * np.median(computed_s)
    if epoch is not None:
        steps[:-1] |= (epoch[1:] == epoch[:-1]) & (epoch[:-1] != UNKNOWN)
    elif np.count_nonzero(~steps) > epochs:
        steps[:-1] = True
    asked_s = None if windows.asked_ns is None else windows.asked_ns[steps] / 1e9
    return LoopTimes(ask_s[steps], got_s[steps], stop_s[steps], True, asked_s=asked_s)


def _of_bursts(start_s: Array, end_s: Array, last_s: float) -> LoopTimes:
    """Take each burst of reads for a batch: the loop computes until the next one."""
    rest_ns = np.round(1e9 * (start_s[1:] - end_s[:-1]))
    rests = np.flatnonzero(rest_ns >= LEAST_PAUSE_NS)
    cut = rests[parting_rests(rest_ns[rests])]
    ask_s, got_s = np.append(start_s[0], start_s[cut + 1]), np.append(end_s[cut], end_s[-1])
    return LoopTimes(ask_s, got_s, np.append(start_s[cut + 1], max(end_s[-1], last_s)), False)


def union_by(place: Array, start_s: Array, end_s: Array, count: int) -> Array:
    """Return the time in which at least one interval of each place was running, shape (count,).

    Args:
        place: Where each interval counts.
        start_s: Their starts, ascending.
        end_s: Their ends.
        count: How many places there are.
    """
    if not len(place):
        return np.zeros(count)
    reached_s = np.maximum.accumulate(np.append(-np.inf, end_s[:-1]))
    return np.bincount(place, np.maximum(end_s - np.maximum(start_s, reached_s), 0.0), minlength=count)
