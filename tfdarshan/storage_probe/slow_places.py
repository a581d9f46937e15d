"""Whether slowness goes with files or with times: one file at several times, several files at one time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tfdarshan.storage_probe.prober import Cell, Read
from tfdarshan.thresholds import THRESHOLD

# A file, or a moment, is slow from so many times what others take; by so many reads at the least.
SLOW = THRESHOLD["longer"]
FEWEST_READS = FEWEST_FILES = THRESHOLD["several"]
# Reads are compared with those of their number of readers and size; a moment is so many, one after the other.
MOMENT_READS, FEWEST_MOMENTS = int(THRESHOLD["neighbours"]), THRESHOLD["few"]
# A file is slow beside the reads around its own, so many of them.
AROUND = 2 * MOMENT_READS
# More than these shares of the files, and of the moments, are the rule and not slow.
MOST_FILES, MOST_MOMENTS = THRESHOLD["clearly"], 0.5


@dataclass(frozen=True)
class SlowPlaces:
    """What was slow.

    Attributes:
        files: Files that were read often enough to tell, 0 where that is too few.
        slow_files: Those that are slow whenever they are read, slowest first, and how many times.
        moments: Moments with reads of several files, 0 where that is too few.
        slow_share: The share of their time in which all files were slow.
        slow_times: How many times, the median of these.
    """

    files: int = 0
    slow_files: tuple[tuple[str, float], ...] = ()
    moments: int = 0
    slow_share: float = 0.0
    slow_times: float = 1.0


def slow_places(cells: Sequence[Cell]) -> SlowPlaces:
    """Tell files from times: each read by how many times as long as its like it took."""
    reads = _relative(cells)
    told = _usual_of_files(reads)
    slow = sorted(((path, times) for path, times in told.items() if times > SLOW), key=lambda one: -one[1])
    moments = _moments(reads, told)
    late = [(span_s, times) for span_s, times in moments if times > SLOW]
    several, enough = len(told) >= FEWEST_FILES, len(moments) >= FEWEST_MOMENTS
    shown = enough and 0 < len(late) <= MOST_MOMENTS * len(moments)
    whole_s = sum(span_s for span_s, _ in moments)
    return SlowPlaces(
        files=len(told) if several else 0,
        slow_files=tuple(slow) if several and len(slow) <= MOST_FILES * len(told) else (),
        moments=len(moments) if enough else 0,
        slow_share=sum(span_s for span_s, _ in late) / whole_s if shown else 0.0,
        slow_times=float(np.median([times for _, times in late])) if shown else 1.0,
    )


# A read, and how many times as long as its like it took.
Relative = tuple[Read, float]


def _usual_of_files(reads: Sequence[Relative]) -> dict[str, float]:
    """Return how many times as slow each file is that was read several times, and not all at once."""
    by_file: dict[str, list[float]] = defaultdict(list)
    moments_of: dict[str, set[int]] = defaultdict(set)
    for first in range(0, len(reads), AROUND):
        around = reads[first : first + AROUND]
        # At a slow moment a file that is as slow as all others is none.
        usual = max(float(np.median([times for _, times in around])), 1.0)
        for read, times in around:
            by_file[read.path].append(times / usual)
            moments_of[read.path].add(first)
    return {
        path: float(np.median(times))
        for path, times in by_file.items()
        if len(times) >= FEWEST_READS and len(moments_of[path]) > 1
    }


def _moments(reads: Sequence[Relative], usual: dict[str, float]) -> list[tuple[float, float]]:
    """Return the seconds of each moment, and how many times as slow its files are as they are else."""
    found = []
    for first in range(0, len(reads), MOMENT_READS):
        moment = reads[first : first + MOMENT_READS]
        by_file: dict[str, list[float]] = defaultdict(list)
        for read, times in moment:
            by_file[read.path].append(times / max(usual.get(read.path, 1.0), 1.0))
        if len(by_file) >= FEWEST_FILES:
            span_s = max(read.end_s for read, _ in moment) - moment[0][0].start_s
            found.append((span_s, float(np.median([np.median(times) for times in by_file.values()]))))
    return found


def _relative(cells: Sequence[Cell]) -> list[Relative]:
    """Return the reads in order of time, each with how many times as long as its like it took."""
    alike: dict[tuple[bool, int], list[float]] = defaultdict(list)
    for cell in cells:
        alike[cell.small, cell.readers] += [read.end_s - read.start_s for read in cell.reads]
    usual = {kind: max(float(np.median(taken)), 1e-9) for kind, taken in alike.items()}
    found = [
        (read, (read.end_s - read.start_s) / usual[cell.small, cell.readers])
        for cell in cells
        for read in cell.reads
    ]
    return sorted(found, key=lambda one: one[0].start_s)
