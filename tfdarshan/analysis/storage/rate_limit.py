"""Storage that gives so much in each interval and then holds calls back: the limit of a cgroup, or a quota.

Such a limit lets calls pass until an interval's allowance is used up, and the next one waits for its end. So
some calls take longer than any storage waits, those like them that are made between are quick, and the long
ones end as far from each other whatever was called meanwhile: one that begins later waits as much less.
Storage that is slow by itself is so for all calls of a kind, and one that stalls now and then does that at
no fixed time, or for as long whenever a call begins; a slow file, or a slow folder, holds up its own calls
alone; and what a job writes may hold up what it reads.

Source: Linux, block/blk-throttle.c: `tg_within_iops_limit`, `tg_within_bps_limit`, `throtl_slice`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.calls.intervals import Array, Covered
from tfdarshan.analysis.calls.limited_quantity import limited_quantity
from tfdarshan.analysis.calls.stretches import Columns
from tfdarshan.analysis.calls.throttled_calls import HELD_NS, HeldCalls
from tfdarshan.thresholds import THRESHOLD

# So many releases tell, of which nearly all are as far apart as most, within a part of that.
FEWEST, MOST, NEAR = THRESHOLD["few"], THRESHOLD["most"], THRESHOLD["near"]
# Of intervals whose allowance was not used up, so many at most before the next one.
MOST_PASSED = 2
# By so much, as a coefficient of correlation, they are the shorter the later they begin.
SHORTER = 0.5
# Calls that all begin soon after an interval did do not show that. The kernel's intervals are known: half of
# the releases are exactly as far apart as these.
KERNELS_NS = 100_000_000
EXACTLY, MOST_EXACT = THRESHOLD["rarely"], 0.5
# Held calls take most of the time that all take, and a part of those of their kind is quick.
MOST_TIME, OTHERS_QUICK = 0.5, THRESHOLD["clearly"]
# What a write holds up waits for it most of the time; a call that lasts is beside some writes anyway.
MOSTLY_WRITING = 0.5
# They are on so many of the files that they could be on, and not in a folder of fewer calls than that.
SPREAD = 0.5


@dataclass(frozen=True)
class Allowance:
    """What shows it.

    Attributes:
        interval_s: How far apart held calls end, the median.
        counts_bytes: Whether it counts bytes, not calls; None where the session does not tell.
    """

    interval_s: float
    counts_bytes: bool | None


def rate_limit_of(
    held: Sequence[HeldCalls], file_calls: Array, folder_of: Array, writing: Covered
) -> Allowance | None:
    """Find it in calls on input.

    Args:
        held: The calls that took longer than storage waits; then those that took longer than most does.
        file_calls: How many calls each file had.
        folder_of: The folder of each file, as a number.
        writing: When the job wrote.

    Returns:
        None where calls are not held back, or something else may hold them.
    """
    found = (_in_calls(some, held, file_calls, folder_of, writing) for some in held)
    return next((one for one in found if one is not None), None)


def _in_calls(
    held: HeldCalls, compared: Sequence[HeldCalls], file_calls: Array, folder_of: Array, writing: Covered
) -> Allowance | None:
    """Find it in some of them; quick is what is so beside how long these usually take."""
    if held.held_ns < MOST_TIME * held.all_ns or not held.stretches:
        return None
    start, end, file, kind, *_ = (np.concatenate(parts) for parts in zip(*held.stretches, strict=True))
    by_writes = writing.within(start, end) >= MOSTLY_WRITING * (end - start)
    usual_ns = np.median(end - start)
    beside = next((some for some in compared if some.least_ns <= usual_ns), held)
    quick = beside.quick[kind] / np.maximum(beside.counts[kind], 1)
    if by_writes.mean() > 1 - MOST or quick.mean() < OTHERS_QUICK:
        return None
    if not _spread(file, file_calls, folder_of):
        return None
    releases = [_releases(calls, held.least_ns // 2) for calls in held.stretches]
    apart, before, first, moved, calls = (np.concatenate(parts) for parts in zip(*releases, strict=True))
    if len(apart) < FEWEST:
        return None
    interval_ns = float(np.median(apart))
    if interval_ns < HELD_NS[0]:
        # No more than a slow disk needs from one call to the next.
        return None
    # Nobody is let go at the end of an interval whose allowance was not used up.
    passed = np.clip(np.round(apart / interval_ns) - 1, 0, MOST_PASSED)
    near = np.abs(apart / interval_ns - 1) <= NEAR
    if float((np.abs(apart / interval_ns - passed - 1) <= NEAR).mean()) < MOST:
        return None
    if not (_as_much_shorter((apart - before)[near], before[near]) or _by_the_kernel(first[near])):
        return None
    counts_bytes = limited_quantity(apart[near], moved[near], calls[near])
    return Allowance(interval_ns / 1e9, counts_bytes)


def _releases(calls: Columns, together_ns: int) -> tuple[Array, ...]:
    """Return how far apart calls are let go, and after how much of that the first of the next ones began.

    Then how far apart the first ones of each release are let go, and what was read meanwhile: bytes, calls.

    Ends that are nearer to each other than `together_ns` are of one release.
    """
    order = np.argsort(calls[1])
    start, end = (values[order] for values in calls[:2])
    release = np.cumsum(np.diff(end, prepend=end[0]) >= together_ns)
    count = int(release[-1]) + 1
    let_go, (first, began) = np.zeros(count, np.int64), np.full((2, count), np.iinfo(np.int64).max)
    np.maximum.at(let_go, release, end)
    np.minimum.at(first, release, end)
    np.minimum.at(began, release, start)
    given = np.zeros((2, count), np.int64)
    for total, until in zip(given, calls[4:], strict=True):
        np.maximum.at(total, release, until[order])
    before = np.maximum(began[1:] - let_go[:-1], 0)
    return np.diff(let_go), before, np.diff(first), *np.diff(given, axis=1)


def _by_the_kernel(first_ns: Array) -> bool:
    """Return whether releases are so far apart as those of the kernel's limits, by their first calls."""
    return float((np.abs(first_ns / KERNELS_NS - 1) <= EXACTLY).mean()) >= MOST_EXACT


def _as_much_shorter(held_ns: Array, before_ns: Array) -> bool:
    """Return whether calls are held the shorter the later they begin, by about as much."""
    if not held_ns.std() or not before_ns.std():
        return False
    alike = float(np.corrcoef(held_ns, before_ns)[0, 1])
    return alike <= -SHORTER and held_ns.std() * -alike >= before_ns.std() / 2


def _spread(file: Array, file_calls: Array, folder_of: Array) -> bool:
    """Return whether held calls are on many files, in folders that have half of all calls or more."""
    files = int(np.count_nonzero(file_calls))
    if len(np.unique(file)) < SPREAD * min(files, len(file)):
        return False
    calls = np.bincount(folder_of, file_calls)
    their = np.bincount(folder_of[file], minlength=len(calls))
    most = np.argsort(-their)
    # The folders that have nearly all of the held calls, the fewest such.
    chosen = most[: int(np.searchsorted(np.cumsum(their[most]), MOST * len(file))) + 1]
    return float(calls[chosen].sum()) >= SPREAD * float(calls.sum())
