"""A slow mount, folder or single files that hold up all the others."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from tfdarshan.analysis.call_kinds import CallGroup
from tfdarshan.analysis.directory import directories_of
from tfdarshan.analysis.in_order.read_judge import SlowCalls
from tfdarshan.analysis.intervals import Array
from tfdarshan.findings.cache_share import from_memory
from tfdarshan.findings.copied_files import copied
from tfdarshan.findings.finding import Assumption, Cure, Evidence, Finding, Gain
from tfdarshan.findings.measures import LEAST_SHARE, Measures
from tfdarshan.findings.part_of_calls import LEAST_S, part_of
from tfdarshan.findings.pipeline_api import input_pipeline
from tfdarshan.staging.candidate import SLOW_OPEN_S
from tfdarshan.units import human_seconds, percent, plural

NAME = "straggler"
# How many times slower than the rest a folder has to be, a file with many calls, and a file with few.
SLOW_FOLDER, SLOW_FILE, SLOW_CALL = 3.0, 4.0, 10.0
FEWEST_CALLS = 30
MANY_READS = 8
# A file that is slow in so many calls is slow by itself.
MANY_SLOW_CALLS = 32
# Files that are read with so many times as many at a time cannot be told from storage that is crowded.
DEEPER = 2.0
SEVERAL_TIMES = 3
FEWEST_WRITTEN = 8
MIB = 1 << 20
# What is usual is known by and large: at best other calls are so many times quicker.
QUICKER = 1.3
# Stragglers are few: with more files than this the storage as a whole is slow.
MOST_FOLDERS, MOST_FILES = 0.6, 0.1


@dataclass(frozen=True)
class Slow:
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


def find(measures: Measures) -> Finding | None:
    """Finds folders or files that take far longer than others for the same, and not from the page cache."""
    if not measures.kinds_known:
        written = _slow_writes(measures)
        if written is not None:
            return written
    costs = measures.costs
    rows = np.flatnonzero((costs.reads > 0) & (costs.call_s > 0))
    if len(rows) < 2:
        return None
    taken, usual = costs.call_s[rows], _usual_s(measures, rows)
    slow = _slow_folders(measures, rows, taken, usual) or _slow_files(measures, rows, taken, usual)
    if slow is None or (not measures.imported and from_memory(measures, slow.rows)):
        return None
    if measures.allowance is not None:
        # A limit held up whichever was read when its interval was used up: elsewhere it holds up others. Of
        # files that are read in turn that is the first, as the kernel reads the others' ahead meanwhile.
        return None
    whole = max(float(costs.call_s.sum()), slow.excess_s)
    assumed = Assumption(
        "elsewhere they would take as long as the others",
        f"{slow.times:.1f} times as long as others of their size",
        "they are as slow after they were moved",
    )
    gain, stall_s = _gain(measures, slow, assumed)
    chosen = np.isin(rows, slow.rows)
    order = np.argsort(-taken[chosen], kind="stable")
    share = percent(float(taken[chosen].sum()), whole)
    once = ", each in one read: storage that allows so many calls a second does that to any file"
    take = "takes" if len(slow.rows) == 1 else "take"
    be = "is" if slow.name.startswith(("/", "1 ")) else "are"
    return Finding(
        name=NAME,
        kind="note" if slow.once else "problem",
        title=f"{slow.name} {be} {slow.times:.0f} times slower than the rest",
        what=f"{plural(len(slow.rows), 'file')} of {len(rows):,} {take} {share} of the time in input calls, "
        f"{slow.times:.1f} times as long as others of their size{once if slow.once else ''}.",
        evidence=(
            Evidence("files", f"{len(slow.rows):,} of {len(rows):,}", len(slow.rows)),
            Evidence("times as slow", f"{slow.times:.1f}", slow.times),
            Evidence("beyond others', over all threads", human_seconds(slow.excess_s), slow.excess_s),
        ),
        files=measures.paths_of(rows[chosen][order]),
        unit=measures.model.unit,
        cost_s=gain.saved_s,
        stall_s=stall_s,
        cure=Cure(
            "Move these files to where the others are, or find out what is wrong with the place they are in.",
            copied(
                measures, rows[chosen], everything=True, place=slow.name if slow.name.startswith("/") else ""
            ).lines,
        ),
        gain=gain,
        not_worth="where they were slow this once only: look at a second session first",
    )


def _beyond_others(measures: Measures, slow: Slow) -> CallGroup:
    """Gives the part of the slow files' calls that others do not take."""
    calls = part_of(measures, measures.input_calls, measures.costs.call_s, _mask(measures, slow))
    return calls.scaled(_beyond_share(measures, slow))


def _beyond_share(measures: Measures, slow: Slow) -> float:
    """Gives what share of the slow files' time others do not take."""
    return min(1.0, slow.excess_s / max(float(measures.costs.call_s[slow.rows].sum()), LEAST_S))


def _mask(measures: Measures, slow: Slow) -> Array:
    return np.isin(np.arange(len(measures.files)), slow.rows)


def _held_up_s(measures: Measures, slow: Slow) -> tuple[float, float, float]:
    """Gives what of a unit steps wait for slow files: at least, as expected and at most."""
    waited_s = measures.costs.waited_s
    if waited_s is None:
        return 0.0, 0.0, 0.0
    of_these_s = _beyond_share(measures, slow) * float(waited_s[slow.rows].sum())
    return measures.model.held_up_s(of_these_s / measures.model.units)


def _gain(measures: Measures, slow: Slow, assumed: Assumption) -> tuple[Gain, float]:
    """Gives the gain when the files are as quick as others, and what of it is no input wait."""
    model, calls, held_up_s = measures.model, _beyond_others(measures, slow), _held_up_s(measures, slow)
    pipeline, loop = measures.pipeline_s(calls.beside_s), calls.within_s / model.units
    # Where batches keep their order, a slow file holds up others that are ready: at most every one. The calls
    # that are left are made by as many as the pipeline may make at best.
    at_best = max(model.readers, measures.pipeline.readers.threads, _calls_at_a_time(measures))
    rest = (measures.input_calls.beside_s - calls.beside_s) / at_best / model.units
    gain = measures.gain(
        max(0.6 * pipeline, held_up_s[0]),
        max(pipeline, held_up_s[1]),
        max(pipeline, held_up_s[2], min(2 * pipeline, model.storage_s - rest / QUICKER)),
        assumed=[assumed, *measures.shared],
        stall_s=(0.6 * loop, loop, loop),
    )
    return gain, loop


def _calls_at_a_time(measures: Measures) -> float:
    """Gives how many calls the pipeline's reading stage is told to make, 1 if that is not known."""
    pipeline = input_pipeline(measures)
    calls = 1 if pipeline is None or pipeline.reader is None else pipeline.reader.calls or 1
    return float(measures.machine.cpus or 1) if calls < 0 else float(calls)


def _usual_s(measures: Measures, rows: Array) -> Array:
    """Gives what the calls on files usually take, by their number and size."""
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


def _slow_folders(measures: Measures, rows: Array, taken: Array, usual: Array) -> Slow | None:
    folders = directories_of(measures.files)
    frame = pd.DataFrame(
        {
            "folder": folders.of_file[rows],
            "taken": taken,
            "usual": usual,
            "calls": measures.costs.reads[rows] + measures.costs.opens[rows],
        }
    )
    sums = frame.groupby("folder").sum()
    sums = sums[sums["calls"] >= FEWEST_CALLS]
    if len(sums) < 2:
        return None
    ratio = (sums["taken"] / sums["usual"]).to_numpy()
    order = np.argsort(ratio, kind="stable")
    reached = np.cumsum(sums["calls"].to_numpy()[order])
    reference = float(ratio[order[np.searchsorted(reached, 0.25 * reached[-1])]])
    slow = ratio >= SLOW_FOLDER * reference
    if not slow.any() or sums["calls"].to_numpy()[slow].sum() > MOST_FOLDERS * reached[-1]:
        return None
    chosen = np.isin(frame["folder"].to_numpy(), sums.index.to_numpy()[slow])
    excess = float((taken[chosen] - reference * usual[chosen]).sum())
    times = float(taken[chosen].sum() / (reference * usual[chosen].sum()))
    count = int(np.count_nonzero(slow))
    if measures.traced and not _by_itself(measures, rows[chosen], SLOW_FOLDER * reference, count):
        return None
    names = [folders.paths[place] for place in sums.index[slow].tolist()]
    return Slow(rows[chosen], excess, times, _common(measures, rows, chosen, names))


def _by_itself(measures: Measures, rows: Array, limit: float, folders: int) -> bool:
    """Says whether files of some folders are slow in half of their reads, and not as more run at a time.

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
    if depth >= DEEPER * others_depth or times is None or found.stored[0] < MANY_READS * folders:
        return False
    return times >= (limit if others_times is None else max(limit, SLOW_FOLDER * others_times))


def _common(measures: Measures, rows: Array, chosen: Array, folders: list[str]) -> str:
    """Names the mount point that all slow files and no others are on, else their folder."""
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


def _slow_files(measures: Measures, rows: Array, taken: Array, usual: Array) -> Slow | None:
    limit = np.where(measures.costs.reads[rows] >= MANY_READS, SLOW_FILE, SLOW_CALL)
    reference = max(float(np.median(taken / usual)), 1e-9)
    slow = taken >= limit * reference * usual
    if not slow.any():
        return None
    once = False
    if measures.traced:
        # Slow at that time, or slow by themselves? A slow moment is none of a file's doing.
        reads, opens = measures.slow_reads(SLOW_FILE), measures.slow_opens(SLOW_FILE)
        taken = np.maximum(taken - reads.moments_s[rows] - opens.moments_s[rows], 0.0)
        each_time = _slow_to_open(measures, opens)[rows]
        slow = (taken >= limit * reference * usual) & (_throughout(reads)[rows] | each_time)
        if not _again(reads, rows[slow]):
            slow &= each_time
        times_slow = np.where(each_time, opens.slow[rows], reads.slow[rows])[slow]
        # Most were slow in one read alone.
        once = len(times_slow) > 1 and float(np.median(times_slow)) <= 1
    count = int(np.count_nonzero(slow))
    if not count or count > max(1, MOST_FILES * len(rows)):
        return None
    excess = float((taken[slow] - reference * usual[slow]).sum())
    times = float(taken[slow].sum() / (reference * usual[slow].sum()))
    return Slow(rows[slow], excess, times, plural(count, "file"), once)


def _slow_to_open(measures: Measures, opens: SlowCalls) -> Array:
    """Says of each file whether it was slow to open by itself, at several times: memory has its data later.

    What a server is slow to say of a name it is slow to say in each epoch, whoever serves the reads. What the
    kernel knows is no server's doing: of quick opens the first one in each epoch is as many times slower.
    """
    asked = measures.costs.open_s > SLOW_OPEN_S * measures.costs.opens
    found: Array = asked & (opens.begins >= SEVERAL_TIMES) & (opens.alone >= opens.made / 2)
    return found


def _throughout(reads: SlowCalls) -> Array:
    """Says of each file whether it was slow in half of its reads; of few reads the sum says enough."""
    found: Array = (reads.made < MANY_READS) | (reads.alone >= reads.made / 2)
    return found


def _again(reads: SlowCalls, rows: Array) -> bool:
    """Says whether files were slow at several times, or for many reads: else the machine stood still."""
    several = int(reads.begins[rows].sum()) >= SEVERAL_TIMES
    return several or int(reads.alone[rows].sum()) >= MANY_SLOW_CALLS * len(rows)


def _slow_writes(measures: Measures) -> Finding | None:
    """Finds files of a log that were written far more slowly than others: a job waits for its slowest one."""
    table = measures.files.rows
    moved, taken = table["bytes_written"].to_numpy(), table["write_s"].to_numpy()
    rows = np.flatnonzero((moved >= MIB) & (table["writes"].to_numpy() >= MANY_READS) & (taken > 0))
    if len(rows) < FEWEST_WRITTEN:
        return None
    per_byte = taken[rows] / moved[rows]
    usual = float(np.median(per_byte))
    slow = per_byte >= SLOW_FILE * usual
    longest_s = float((taken[rows] - usual * moved[rows]).max())
    duration_s = measures.summary.duration_s
    if not slow.any() or slow.sum() > MOST_FILES * len(rows) or longest_s < LEAST_SHARE * duration_s:
        return None
    files, times = int(slow.sum()), float(np.median(per_byte[slow])) / usual
    order = np.argsort(-per_byte, kind="stable")
    return Finding(
        name=NAME,
        kind="note",
        title=f"{plural(files, 'file')} of {len(rows):,} took {times:.0f} times as long to write as others",
        what=f"The slowest of them took {human_seconds(longest_s)} longer than others of its size, of "
        f"{human_seconds(duration_s)} in all: a job that waits for all its files loses that.",
        evidence=(
            Evidence("slow files", f"{files:,} of {len(rows):,}", files),
            Evidence("times as slow", f"{times:.1f}", times),
            Evidence("the slowest took longer by", human_seconds(longest_s), longest_s),
        ),
        files=measures.paths_of(rows[order]),
        unit=measures.model.unit,
        cost_s=min(longest_s, duration_s),
        cure=Cure("Look at the servers or disks that these files are on (lfs getstripe FILE on Lustre)."),
        not_worth="where they were slow this once only: look at a second log first",
    )
