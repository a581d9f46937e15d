"""Folders and single files on a mount that are slow by themselves: they have times of their own.

A mount's time model says what a pass costs by its size. Where one folder leads to a slower server, or one
file lies on a bad disk, it would spread their time over all files. What was slow this once only is not told
apart: a folder or a file is slow if its reads are, as a rule and not on average, while others are not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tfdarshan.analysis.intervals import Array
from tfdarshan.analysis.time_model import median_slope
from tfdarshan.staging.candidate import Candidates
from tfdarshan.staging.file_use import FileUse
from tfdarshan.units import plural

# How many times longer than others of its length a read takes: of a folder, a file, a file of few reads.
SLOW_FOLDER, SLOW_FILE, SLOW_CALL = 3.0, 4.0, 10.0
# Fewer reads, and passes that storage served but in part, say little.
MANY_READS, READS_OF_FOLDER, FEW_READS, FEWEST_PASSES = 32, 16, 3, 0.5
# Slow places are few: otherwise the storage as a whole is slow.
MOST_READS, MOST_FILES = 0.6, 0.1
# As many times a place has to be slow, with others read in between, or as many files beside it.
SEVERAL, MOST = 3, 0.9
FITTED = 400
# With more files than this only mounts are told apart: naming all folders would take longer than the rest.
MOST_CANDIDATES = 1_000_000
# More folders than this are no exceptions.
MOST_PLACES = 1_000
ORDINARY = 0


@dataclass(frozen=True)
class SlowPlaces:
    """What is slow by itself. `place` has one entry per candidate: ORDINARY, or 1 and on, as in `names`."""

    place: Array
    names: tuple[str, ...] = ()


def slow_places(use: FileUse, found: Candidates) -> SlowPlaces:
    """Finds slow folders, and else slow files."""
    place = np.zeros(len(found.rows), np.int16)
    if len(place) > MOST_CANDIDATES:
        return SlowPlaces(place)
    # What memory served of a file says nothing of where it lies, however slow the server is to open it.
    read = (use.reads[found.rows] > 0) & (use.storage_bytes[found.rows] > 0)
    chosen = np.flatnonzero((found.storage_passes >= FEWEST_PASSES) & read)
    if len(chosen) < SEVERAL:
        return SlowPlaces(place)
    rows = found.rows[chosen]
    reads = use.reads[rows].astype(np.float64)
    typical = np.maximum(use.typical_read_s(rows), 1e-9)
    times = typical / _usual_s(use.bytes_read[rows] / reads, typical)
    times = times / _quarter(times, reads)
    folder, names = _folders(use, rows)
    slow = _slow_folders(times, reads, folder, len(names))
    alone = len(slow) == 1 and bool(reads[folder == slow[0]].sum() >= MANY_READS)
    if 0 < len(slow) < MOST_PLACES and _apart(use, rows, np.isin(folder, slow), times, alone=alone):
        for number, code in enumerate(slow.tolist(), 1):
            place[chosen[folder == code]] = number
        return SlowPlaces(place, tuple(names[code].as_py() for code in slow.tolist()))
    files = _slow_files(use, rows, times, reads)
    if not len(files):
        return SlowPlaces(place)
    place[chosen[files]] = 1
    return SlowPlaces(place, (f"{plural(len(files), 'slow file')}",))


def _usual_s(length: Array, typical: Array) -> Array:
    """Gives what a read of such a length usually takes, whatever a few files do."""
    order = np.argsort(length, kind="stable")
    picked = order[np.unique(np.linspace(0, len(order) - 1, FITTED).astype(int))]
    slope = max(median_slope(length[picked], typical[picked]), 0.0)
    base = float(np.median(typical[picked] - slope * length[picked]))
    if base <= 0:
        base, slope = 0.0, float(np.median(typical[picked] / np.maximum(length[picked], 1)))
    usual: Array = np.maximum(base + slope * length, 1e-9)
    return usual


def _quarter(times: Array, reads: Array) -> float:
    """Gives the value that a quarter of the reads are below: an ordinary one, even if most are slow."""
    order = np.argsort(times, kind="stable")
    reached = np.cumsum(reads[order])
    return float(times[order[np.searchsorted(reached, 0.25 * reached[-1])]])


def _folders(use: FileUse, rows: Array) -> tuple[Array, pa.Array]:
    parents = pc.replace_substring_regex(use.paths.take(pa.array(rows)), "/[^/]*$", "")
    encoded = pa.chunked_array(parents).combine_chunks().dictionary_encode()
    return encoded.indices.to_numpy(), encoded.dictionary


def _slow_folders(times: Array, reads: Array, folder: Array, count: int) -> Array:
    """Gives the folders whose reads are slow as a rule; none where that is most of them."""
    of_folder = np.bincount(folder, reads, count)
    logs = np.bincount(folder, reads * np.log(times), count) / np.maximum(of_folder, 1)
    slow: Array = np.flatnonzero((np.exp(logs) >= SLOW_FOLDER) & (of_folder >= READS_OF_FOLDER))
    return slow if of_folder[slow].sum() <= MOST_READS * reads.sum() else slow[:0]


def _slow_files(use: FileUse, rows: Array, times: Array, reads: Array) -> Array:
    if not use.reading:
        return np.zeros(0, np.int64)
    limit = np.where(reads >= MANY_READS, SLOW_FILE, SLOW_CALL)
    slow: Array = np.flatnonzero((times >= limit) & (reads >= FEW_READS))
    if not len(slow) or len(slow) > max(1, MOST_FILES * len(rows)):
        return slow[:0]
    mask = np.zeros(len(rows), bool)
    mask[slow] = True
    alone = len(slow) == 1 and bool(reads[slow[0]] >= MANY_READS)
    return slow if _apart(use, rows, mask, times, alone=alone) else slow[:0]


def _apart(use: FileUse, rows: Array, slow: Array, times: Array, *, alone: bool) -> bool:
    """Says whether what is slow is a place and no time: others were quick meanwhile, or in between.

    What was read in one go with nothing beside it can be either. One such place among many is taken for slow,
    several are not: storage that is slow at times makes several.
    """
    quick = ~slow & (times < SLOW_FOLDER)
    for reading in use.reading:
        first, last = reading.first_ns[rows], reading.last_ns[rows]
        begun = np.searchsorted(np.sort(first[quick]), last[slow], side="left")
        ended = np.searchsorted(np.sort(last[quick]), first[slow], side="right")
        if np.mean(begun - ended >= SEVERAL) >= MOST:
            return True
        in_turn = slow[np.argsort(first, kind="stable")]
        turns = int(in_turn[0]) + np.count_nonzero(in_turn[1:] & ~in_turn[:-1])
        if turns >= SEVERAL and not _beside_each_other(first[slow], last[slow]):
            return True
    return alone


def _beside_each_other(first: Array, last: Array) -> bool:
    """Says whether most of some files were read beside others of them: then the time may have been slow."""
    begun = np.searchsorted(np.sort(first), last, side="left")
    ended = np.searchsorted(np.sort(last), first, side="right")
    return bool(np.median(begun - ended) > 1)
