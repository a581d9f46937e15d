"""Calls judged by what calls like them usually take: which files were slow, and whether by themselves."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.calls.segments import Segments
from tfdarshan.analysis.calls.thinned import Thinned
from tfdarshan.analysis.storage.storage_passes import from_storage
from tfdarshan.analysis.storage.time_model import TimeModel
from tfdarshan.thresholds import THRESHOLD

# Of so many calls that began one after the other, so many were slow, and as many files were read.
NEIGHBOURS = int(THRESHOLD["neighbours"])
FEWEST = THRESHOLD["several"]
# Windows handled at a time.
BLOCK = 1 << 20


def slow_moments(file: Array, slow: Array) -> Array:
    """Return which slow calls were slow beside others of other files, bool.

    Args:
        file: What each call is on, in order of start.
        slow: Which calls were slow, bool.
    """
    count = len(file)
    found = np.zeros(count, bool)
    if count < NEIGHBOURS:
        return found
    reached = np.concatenate([[0], np.cumsum(slow)])
    windows = np.flatnonzero(reached[NEIGHBOURS:] - reached[:-NEIGHBOURS] >= FEWEST)
    for first in range(0, len(windows), BLOCK):
        calls = windows[first : first + BLOCK, None] + np.arange(NEIGHBOURS)
        files = np.sort(np.where(slow[calls], file[calls], -1), axis=1)
        others = ((files[:, 1:] != files[:, :-1]) & (files[:, 1:] >= 0)).sum(axis=1) + (files[:, 0] >= 0)
        found[calls[others >= FEWEST]] = True
    return found & slow


# Calls after one that have to be known before it is judged, and before it.
REACH = NEIGHBOURS - 1


def usual_s(model: TimeModel, length: Array) -> Array:
    """Return what reads of so many bytes usually take, in seconds, float64."""
    return np.maximum(model.seconds(length) / (model.scale or 1.0), 1e-9)


@dataclass(frozen=True)
class SlowCalls:
    """Calls of one kind that took several times as long as usual; one entry per row of the file table.

    Attributes:
        made: All calls, int64.
        slow: Slow ones, int64.
        alone: Those of them that were not slow beside slow ones of other files, int64.
        begins: Those of these before which no call was slow, of whatever file, int64.
        moments_s: By how much the others took longer than usual, in seconds, float64.
    """

    made: Array
    slow: Array
    alone: Array
    begins: Array
    moments_s: Array


def slow_calls(blocks: Iterable[Segments], model: TimeModel, files: int, times: float) -> SlowCalls:
    """Find them.

    Args:
        blocks: Reads with data, or other calls of one kind, in order of start.
        model: What they take.
        files: Rows of the file table.
        times: So many times as long is slow.
    """
    sums = _SlowSums(files)
    for block in blocks:
        taken_s, usual = (block.end_ns - block.start_ns) / 1e9, usual_s(model, block.length)
        sums.add(block.file, taken_s / usual >= times, taken_s - usual)
    return sums.calls()


class _SlowSums:
    """Judges each call once those around it are known."""

    def __init__(self, files: int) -> None:
        self._sums = np.zeros((4, files), np.int64)
        self._moments_s = np.zeros(files)
        # Calls that are judged already, and calls that are not: as many of each as reach to others.
        self._held = (np.zeros(0, np.int32), np.zeros(0, bool), np.zeros(0))
        self._judged = 0

    def add(self, file: Array, slow: Array, excess_s: Array) -> None:
        self._held = (
            np.concatenate([self._held[0], file]),
            np.concatenate([self._held[1], slow]),
            np.concatenate([self._held[2], excess_s]),
        )
        self._judge(len(self._held[0]) - REACH)

    def calls(self) -> SlowCalls:
        self._judge(len(self._held[0]))
        made, slow, alone, begins = self._sums
        return SlowCalls(made, slow, alone, begins, self._moments_s)

    def _judge(self, until: int) -> None:
        file, slow, excess_s = self._held
        if until <= self._judged:
            return
        moment = slow_moments(file, slow)
        alone = slow & ~moment
        begins = alone & ~np.append(False, slow[:-1])
        now = slice(self._judged, until)
        for row, chosen in enumerate((np.ones(len(file), bool), slow, alone, begins)):
            np.add.at(self._sums[row], file[now][chosen[now]], 1)
        found = file[now][moment[now]]
        np.add.at(self._moments_s, found, excess_s[now][moment[now]])
        kept = max(0, until - REACH)
        self._held = (file[kept:], slow[kept:], excess_s[kept:])
        self._judged = until - kept


@dataclass(frozen=True)
class ComparedReads:
    """Reads of some files beside those of the others.

    Attributes:
        reads: How many, of these files and of the others.
        depth: How many reads were under way when each began, mean.
        times: Of those that storage served, what they took as a multiple of the usual, median; None without.
        stored: How many these were.
    """

    reads: tuple[int, int]
    depth: tuple[float, float]
    times: tuple[float | None, float | None]
    stored: tuple[int, int]


def compared_reads(blocks: Iterable[Segments], model: TimeModel, files: Array) -> ComparedReads:
    """Compare them.

    Args:
        blocks: Reads with data, in order of start.
        model: What reads take.
        files: Which rows of the file table are the files, bool.
    """
    counts, served, depths = np.zeros(2, np.int64), np.zeros(2, np.int64), np.zeros(2)
    samples, running = (Thinned(1), Thinned(1)), RunningReads()
    for block in blocks:
        other = (~files[block.file]).astype(np.int8)
        taken_s = (block.end_ns - block.start_ns) / 1e9
        counts += np.bincount(other, minlength=2)
        depths += np.bincount(other, running.depth(block.start_ns, block.end_ns), minlength=2)
        stored = from_storage(np.ones(len(block)), block.length, taken_s)
        served += np.bincount(other[stored], minlength=2)
        for place, sample in enumerate(samples):
            chosen = stored & (other == place)
            sample.add(taken_s[chosen] / usual_s(model, block.length[chosen]))
    of_these, of_others = (
        None if not sample.count else float(np.median(sample.columns()[0])) for sample in samples
    )
    mean = depths / np.maximum(counts, 1)
    return ComparedReads(
        (int(counts[0]), int(counts[1])),
        (mean[0], mean[1]),
        (of_these, of_others),
        (int(served[0]), int(served[1])),
    )


class RunningReads:
    """How many of all reads are under way when each begins, of reads that come block by block."""

    def __init__(self) -> None:
        self._ends = np.zeros(0, np.int64)

    def depth(self, start_ns: Array, end_ns: Array) -> Array:
        """Return it, each read counted with it, float64; starts ascend."""
        ends = np.sort(np.concatenate([self._ends, end_ns]))
        before = len(self._ends)
        ended = np.searchsorted(ends, start_ns, side="right")
        depth: Array = np.maximum(before + np.arange(1, len(start_ns) + 1) - ended, 1).astype(np.float64)
        if len(start_ns):
            self._ends = ends[np.searchsorted(ends, start_ns[-1], side="right") :]
        return depth
