"""When steps ran, when they waited for input, and how busy the input pipeline was in either part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from tfdarshan.analysis.calls.intervals import Array, Covered, covered
from tfdarshan.thresholds import THRESHOLD

# A pause between steps is one from so many times a step's length on, and of so many seconds at least.
LONGER, LEAST_PAUSE_S = THRESHOLD["longer"], THRESHOLD["moment"]
# A batch of tf.data that is ready takes 0.1 to 1 ms to be handed over to Python, the longer the longer the
# processors rested. So much at most of a step's wait is taken for that, and what its quickest waits take.
MOST_HANDED_S, QUICK_WAITS = THRESHOLD["handed"], THRESHOLD["hardly"]


@dataclass(frozen=True)
class StepWindows:
    """Steps in order of time; arrays in ns, one entry per step.

    Attributes:
        start_ns: Starts.
        end_ns: Ends.
        wait_end_ns: Ends of the waits for input, which begin with their steps; None if unknown.
        epoch: Epochs that they are of, -1 where that is unknown; None if it is of all.
        on_device: Whether most waits are those of the accelerator, not of the loop that keeps it busy.
        iterator_ns: When the iterators were asked first that gave their batches, -1 where that is unknown;
            None if it is of all.
        asked_ns: When the loop asks for their batches, if steps are the GPU's, which may work until later for
            the steps before; None if they start with that.
        waited_ns: When waits begin and end, in order of time, if steps take several batches, each with a wait
            of its own; None if they are at the start of each step.
    """

    start_ns: Array
    end_ns: Array
    wait_end_ns: Array | None
    epoch: Array | None = None
    on_device: bool = False
    iterator_ns: Array | None = None
    asked_ns: Array | None = None
    waited_ns: tuple[Array, Array] | None = None

    @property
    def span_ns(self) -> tuple[int, int]:
        """From the first step's start to the last one's end."""
        return int(self.start_ns[0]), int(self.end_ns.max())

    @property
    def asked(self) -> list[tuple[int, float]]:
        """Moments up to which a pass over the training data was begun last, and the steps' seconds of each.

        These are the first requests of iterators, with the steps but for each iterator's last one: what
        follows that may be anything. If iterators are unknown, it is the first step's end: what the job
        marks is training.
        """
        if self.iterator_ns is None:
            return [(int(self.end_ns[0]), 1.0)]
        follows = np.append(self.iterator_ns[1:] == self.iterator_ns[:-1], False)
        step_s, known = (self.end_ns - self.start_ns) / 1e9 * follows, self.iterator_ns >= 0
        moments_ns, place = np.unique(self.iterator_ns[known], return_inverse=True)
        took_s = np.bincount(place, step_s[known], minlength=len(moments_ns))
        return list(zip(moments_ns.tolist(), took_s.tolist(), strict=True))

    @property
    def span_s(self) -> float:
        """The time that steps are charged with: what is between two of them, such as a checkpoint, too."""
        first, last = self.span_ns
        return (last - first) / 1e9

    @property
    def step_s(self) -> float:
        """The time of a step: that of all, over their number."""
        return self.span_s / len(self.start_ns)

    @property
    def waits(self) -> tuple[Array, Array] | None:
        """When they begin and end, None if unknown."""
        at_start = None if self.wait_end_ns is None else (self.start_ns, self.wait_end_ns)
        return at_start if self.waited_ns is None else self.waited_ns

    @property
    def wait_s(self) -> float | None:
        """All waits added up."""
        return None if self.wait_end_ns is None else float((self.wait_end_ns - self.start_ns).sum()) / 1e9

    @property
    def handed_s(self) -> float:
        """What of a step's wait it takes tf.data to hand over a batch that is ready; 0 if unknown."""
        if self.wait_end_ns is None:
            return 0.0
        return min(MOST_HANDED_S, float(np.quantile(self.wait_end_ns - self.start_ns, QUICK_WAITS)) / 1e9)

    def overlap(self, in_waits_ns: float, beside_compute_ns: float) -> float:
        """Return the share of the compute time in which the input pipeline worked as it did in the waits.

        Args:
            in_waits_ns: Thread time in the pipeline's calls within the waits.
            beside_compute_ns: Thread time in its calls within the rest of the steps.
        """
        if self.wait_end_ns is None:
            return 0.0
        wait_ns = float((self.wait_end_ns - self.start_ns).sum())
        rest_ns = float((self.end_ns - self.wait_end_ns).sum())
        if rest_ns <= 0 or beside_compute_ns <= 0:
            return 0.0
        if wait_ns <= 0 or in_waits_ns <= 0:
            return 1.0
        return float(min(1.0, (beside_compute_ns / rest_ns) / (in_waits_ns / wait_ns)))

    def active_s(self, overlap: float) -> float | None:
        """Return how long the pipeline was at work: in the waits, and for its share of the compute time."""
        if self.wait_s is None:
            return None
        all_s = float((self.end_ns - self.start_ns).sum()) / 1e9
        return self.wait_s + overlap * (all_s - self.wait_s)

    @cached_property
    def pauses(self) -> tuple[Array, Array]:
        """When the pauses between steps begin and end: those in which training stands still."""
        begin, end = np.maximum.accumulate(self.end_ns)[:-1], self.start_ns[1:]
        typical_ns = float(np.median(self.end_ns - self.start_ns))
        long = end - begin >= max(LONGER * typical_ns, LEAST_PAUSE_S * 1e9)
        return begin[long], end[long]

    def pause_of(self, at_ns: Array) -> Array:
        """Return the pause that each moment is in, -1 if it is in none."""
        return place_in(*self.pauses, at_ns)

    def waiting(self, at_ns: Array) -> Array:
        """Return which moments were in a wait, bool; in none where waits are unknown."""
        return np.zeros(len(at_ns), bool) if self.waits is None else place_in(*self.waits, at_ns) >= 0


def place_in(begin_ns: Array, end_ns: Array, at_ns: Array) -> Array:
    """Return which of some stretches, in order of time, each moment is in, -1 if it is in none."""
    if not len(begin_ns):
        return np.full(len(at_ns), -1)
    before = np.searchsorted(begin_ns, at_ns, side="right") - 1
    return np.where(at_ns < end_ns[np.maximum(before, 0)], before, -1)


def step_windows(steps: pd.DataFrame | Mapping[str, Array]) -> StepWindows | None:
    """Return the windows of steps (`start_ns`, `end_ns`, `input_wait_ns`, -1 if unknown), None without steps.

    Steps are a table, or arrays by name.

    A wait is taken to be at its step's start: TensorFlow's trace begins steps with it, Keras asks for a batch
    first, and so does a loop that marks its steps. Where `exposed_wait_ns` is known, steps and waits are
    those of the GPU.
    """
    start, end, wait = (np.asarray(steps[name], np.int64) for name in ("start_ns", "end_ns", "input_wait_ns"))
    if len(start) == 0:
        return None
    judged = _judged(start, wait)
    start, end, wait = start[judged], end[judged], wait[judged]
    known = bool((wait >= 0).all())
    epoch = np.asarray(steps["epoch"], np.int64)[judged] if "epoch" in steps else None
    asked, on_device = None, False
    if "exposed_wait_ns" in steps:
        asked, exposed = start, np.asarray(steps["exposed_wait_ns"], np.int64)[judged]
        start, end, wait = _on_device_clock(start, end, wait, exposed)
        on_device = bool(2 * np.count_nonzero(exposed >= 0) > len(exposed))
    waits_end = start + np.minimum(wait, end - start) if known else None
    iterator = np.asarray(steps["iterator_ns"], np.int64)[judged] if "iterator_ns" in steps else None
    epoch, iterator = (None if one is None or (one < 0).all() else one for one in (epoch, iterator))
    return StepWindows(start, end, waits_end, epoch, on_device, iterator, asked)


def _on_device_clock(
    start_ns: Array, end_ns: Array, wait_ns: Array, exposed_ns: Array
) -> tuple[Array, Array, Array]:
    """Return when steps begin and end on the GPU, and how long they wait there for input.

    The GPU still works on queued kernels while the loop waits for input. A step begins on the GPU when its
    queue is empty, or with its batch if the queue is longer than the wait. Until then the GPU works for the
    step before.

    Args:
        start_ns: When steps begin on the CPU, ascending, with the wait for their batch.
        end_ns: When they end there.
        wait_ns: How long they wait there.
        exposed_ns: How long the GPU is idle at the end of the wait; -1 if unknown: such a step stays as it
            is.
    """
    wait_ns = np.minimum(wait_ns, end_ns - start_ns)
    exposed_wait_ns = np.where(exposed_ns >= 0, np.minimum(exposed_ns, wait_ns), wait_ns)
    begins_ns = start_ns + wait_ns - exposed_wait_ns
    ends_ns = end_ns.copy()
    follows = end_ns[:-1] == start_ns[1:]
    ends_ns[:-1][follows] = begins_ns[1:][follows]
    return begins_ns, ends_ns, exposed_wait_ns


def steps_to_judge(steps: pd.DataFrame) -> pd.DataFrame:
    """Return the steps in order of time that a session is judged by.

    Where waits are known of one part of the session, as where TensorFlow's trace ended early, its steps are
    all there are.
    """
    return steps.iloc[
        _judged(steps["start_ns"].to_numpy(np.int64), steps["input_wait_ns"].to_numpy(np.int64))
    ]


def _judged(start_ns: Array, wait_ns: Array) -> Array:
    """Return the places of these steps."""
    order = np.argsort(start_ns, kind="stable")
    known = np.flatnonzero(wait_ns[order] >= 0)
    in_one_part = len(known) > 0 and len(known) == known[-1] - known[0] + 1
    return order[known] if in_one_part else order


def parts_of_steps(windows: StepWindows | None) -> tuple[Covered, Covered] | None:
    """Return the waits of steps for input, and the rest of the steps; None if waits are unknown."""
    if windows is None or windows.wait_end_ns is None:
        return None
    if windows.waited_ns is None:
        waits = windows.start_ns, windows.wait_end_ns
        return covered(*waits), covered(windows.wait_end_ns, windows.end_ns)
    begin_ns, end_ns = windows.waited_ns
    # Each rest begins with a step, or behind a wait in it, and ends with the next wait, or with the step.
    rests_begin_ns = np.sort(np.concatenate([windows.start_ns, end_ns]))
    rests_end_ns = np.sort(np.concatenate([begin_ns, windows.end_ns]))
    return covered(begin_ns, end_ns), covered(rests_begin_ns, rests_end_ns)
