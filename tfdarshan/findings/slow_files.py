"""Folders and files that are slow by themselves: others are read as quickly as ever meanwhile."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.files.directory import folders_of
from tfdarshan.analysis.storage.outlier_calls import SlowCalls
from tfdarshan.findings.measures import Measures
from tfdarshan.replay.priors import SETTING
from tfdarshan.thresholds import THRESHOLD
from tfdarshan.units import plural

SLOW, SLOW_CALL = THRESHOLD["slow"], THRESHOLD["slow call"]
FEW, MANY, SEVERAL = (int(THRESHOLD[name]) for name in ("few", "many", "several"))
SLOW_OPEN_S = THRESHOLD["slow open"]


@dataclass(frozen=True)
class SlowFiles:
    """What is slow.

    Attributes:
        rows: Of the file table.
        excess_s: The time beyond what others take.
        times: How many times as long it takes as they do.
        name: How it is called.
        once: Each file was slow in one read: that may have been the storage's doing.
    """

    rows: Array
    excess_s: float
    times: float
    name: str
    once: bool = False


def slow_files(measures: Measures, rows: Array) -> SlowFiles | None:
    """Return the slow ones of some files that were read: their folders, or else single ones."""
    taken, usual = measures.costs.call_s[rows], _usual_s(measures, rows)
    return _slow_folders(measures, rows, taken, usual) or _slow_files(measures, rows, taken, usual)


def _usual_s(measures: Measures, rows: Array) -> Array:
    """Return what the calls on files usually take, by their number and size."""
    costs, model = measures.costs, measures.read_cost
    opens = costs.opens[rows]
    other = costs.other_s[rows]
    opened = opens > 0
    per_open = float(np.median(other[opened] / opens[opened])) if opened.any() else 0.0
    scale = model.scale or 1.0
    base, slope = model.base_s / scale, model.s_per_byte / scale
    if not measures.traced:
        base, slope = float(np.median(costs.read_s[rows] / costs.reads[rows])), 0.0
    found: Array = costs.reads[rows] * base + costs.read_bytes[rows] * slope + opens * per_open
    return np.maximum(found, 1e-9)


def _slow_folders(measures: Measures, rows: Array, taken: Array, usual: Array) -> SlowFiles | None:
    folders = folders_of(measures.files.paths)
    frame = pd.DataFrame(
        {
            "folder": folders.of_file[rows],
            "taken": taken,
            "usual": usual,
            "calls": measures.costs.reads[rows] + measures.costs.opens[rows],
        }
    )
    sums = frame.groupby("folder").sum()
    sums = sums[sums["calls"] >= MANY]
    if len(sums) < 2:
        return None
    ratio = (sums["taken"] / sums["usual"]).to_numpy()
    order = np.argsort(ratio, kind="stable")
    reached = np.cumsum(sums["calls"].to_numpy()[order])
    reference = float(ratio[order[np.searchsorted(reached, SETTING["quick"] * reached[-1])]])
    slow = ratio >= SLOW * reference
    if not 0 < 2 * np.count_nonzero(slow) <= len(slow):
        return None
    chosen = np.isin(frame["folder"].to_numpy(), sums.index.to_numpy()[slow])
    excess = float((taken[chosen] - reference * usual[chosen]).sum())
    times = float(taken[chosen].sum() / (reference * usual[chosen].sum()))
    count = int(np.count_nonzero(slow))
    if measures.traced and not _by_itself(measures, rows[chosen], SLOW * reference, count):
        return None
    names = [folders.paths[place] for place in sums.index[slow].tolist()]
    return SlowFiles(rows[chosen], excess, times, _common(measures, rows, chosen, names))


def _by_itself(measures: Measures, rows: Array, limit: float, folders: int) -> bool:
    """Say whether files of some folders are slow in half of their reads, and not as more run at a time.

    Of files that were read at a slow time others are quick. Reads that memory served are not counted: what is
    slow the first time is quick the next. Those that storage served are slow for all, so they are compared
    with others' of that kind; a few in each folder are slow wherever a limit holds back what is read then.
    """
    files = np.zeros(len(measures.files), bool)
    files[rows] = True
    found = measures.compared_reads(files)
    if 0 in found.reads:
        return True
    (depth, others_depth), (times, others_times) = found.depth, found.times
    if depth >= 2 * others_depth or times is None or found.stored[0] < FEW * folders:
        return False
    return times >= (limit if others_times is None else max(limit, SLOW * others_times))


def _common(measures: Measures, rows: Array, chosen: Array, folders: list[str]) -> str:
    """Name the mount point that all slow files and no others are on, else their folder."""
    mounts = measures.files.rows["mount_point"].cat
    codes = mounts.codes.to_numpy()[rows]
    slow = np.unique(codes[chosen])
    if len(slow) == 1 and not (codes[~chosen] == slow[0]).any() and mounts.categories[slow[0]]:
        return str(mounts.categories[slow[0]])
    common = os.path.commonpath(folders) if all(name.startswith("/") for name in folders) else ""
    if common in ("", "/"):
        return plural(len(folders), "folder")
    others = measures.files.paths.take(pa.array(rows[~chosen]))
    shared = pc.any(pc.starts_with(others, f"{common}/")).as_py()
    return plural(len(folders), "folder") if shared else common


def _slow_files(measures: Measures, rows: Array, taken: Array, usual: Array) -> SlowFiles | None:
    limit = np.where(measures.costs.reads[rows] >= FEW, SLOW, SLOW_CALL)
    reference = max(float(np.median(taken / usual)), 1e-9)
    slow = taken >= limit * reference * usual
    if not slow.any():
        return None
    once = False
    if measures.traced:
        # Slow at that time, or slow by themselves? A slow moment is none of a file's doing.
        reads, opens = measures.slow_reads(SLOW), measures.slow_opens(SLOW)
        taken = np.maximum(taken - reads.moments_s[rows] - opens.moments_s[rows], 0.0)
        each_time = _slow_to_open(measures, opens)[rows]
        slow = (taken >= limit * reference * usual) & (_throughout(reads)[rows] | each_time)
        if not _again(reads, rows[slow]):
            slow &= each_time
        times_slow = np.where(each_time, opens.slow[rows], reads.slow[rows])[slow]
        # Most were slow in one read alone.
        once = len(times_slow) > 1 and float(np.median(times_slow)) <= 1
    count = int(np.count_nonzero(slow))
    if not count or count > max(1, THRESHOLD["stragglers"] * len(rows)):
        return None
    excess = float((taken[slow] - reference * usual[slow]).sum())
    times = float(taken[slow].sum() / (reference * usual[slow].sum()))
    return SlowFiles(rows[slow], excess, times, plural(count, "file"), once)


def _slow_to_open(measures: Measures, opens: SlowCalls) -> Array:
    """Say of each file whether it was slow to open by itself, at several times: memory has its data later.

    What a server is slow to say of a name it is slow to say in each epoch, whoever serves the reads. What the
    kernel knows is no server's doing: of quick opens the first one in each epoch is as many times slower.
    """
    asked = measures.costs.open_s > SLOW_OPEN_S * measures.costs.opens
    return asked & (opens.begins >= SEVERAL) & (opens.alone >= opens.made / 2)


def _throughout(reads: SlowCalls) -> Array:
    """Say of each file whether it was slow in half of its reads; of few reads the sum says enough."""
    return (reads.made < FEW) | (reads.alone >= reads.made / 2)


def _again(reads: SlowCalls, rows: Array) -> bool:
    """Say whether files were slow at several times, or for many reads: else the machine stood still."""
    several = int(reads.begins[rows].sum()) >= SEVERAL
    return several or int(reads.alone[rows].sum()) >= MANY * len(rows)
