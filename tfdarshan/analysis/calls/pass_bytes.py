"""How many bytes a pass over a file moves, of reads that say where they lie: all of the file, or a part."""

from __future__ import annotations

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.calls.segments import READ, Segments


def pass_bytes(file: Array, offset: Array, length: Array, files: int) -> Array:
    """Return the bytes that a pass over each file moves: what was read of it, each byte once.

    The first pages of a tree are read for each of its other pages. They count as often as half of the bytes
    do, and once more, so a pass moves more than each byte once.

    Args:
        file: The file of each read, a row of a file table.
        offset: Where it begins.
        length: Bytes that it read, at least 1.
        files: How many rows the table has.

    Returns:
        One entry per row, float64; 0 of a file that none of them read.
    """
    # All files one after the other, none of which ends where the next begins: one sort is enough for all.
    reach = np.zeros(files, np.int64)
    np.maximum.at(reach, file, offset + length + 1)
    start = offset + (np.cumsum(reach) - reach)[file]
    bounds = np.concatenate([start, start + length])
    order = np.argsort(bounds)
    # How often the bytes from each bound to the next were read.
    times = np.cumsum(np.repeat([1, -1], len(file))[order])[:-1]
    size, of_file = np.diff(bounds[order]), np.concatenate([file, file])[order[:-1]]
    parts = (times > 0) & (size > 0)
    times, size, of_file = times[parts], size[parts], of_file[parts]
    once = np.bincount(of_file, size, minlength=files)
    moved = np.bincount(of_file, size * times, minlength=files)
    usual = _of_half(of_file, times, size, once)
    counted = np.bincount(of_file, size * np.minimum(times, usual[of_file] + 1), minlength=files)
    return np.divide(moved * once, counted, out=np.zeros(files), where=counted > 0)


def known_pass_bytes(calls: Segments, bytes_read: Array) -> Array:
    """Return the bytes that a pass over each file moves, as `pass_bytes`, where its calls tell them.

    Args:
        calls: The calls on the files of a table.
        bytes_read: What was read of each of them, by the counters.

    Returns:
        One entry per row, float64; 0 of a file if not all of its reads are among the calls and say where they
        lie.
    """
    placed = np.flatnonzero((calls.io_class == READ) & (calls.length > 0) & (calls.offset >= 0))
    used, file = np.unique(calls.file[placed], return_inverse=True)
    offset, length = calls.offset[placed], calls.length[placed]
    known = np.bincount(file, length, minlength=len(used)) == bytes_read[used]
    found = np.zeros(len(bytes_read))
    found[used] = np.where(known, pass_bytes(file, offset, length, len(used)), 0.0)
    return found


def _of_half(of_file: Array, times: Array, size: Array, once: Array) -> Array:
    """Return how often half of the bytes of each file were read, at least."""
    order = np.lexsort((-times, of_file))
    within = np.cumsum(size[order]) - (np.cumsum(once) - once)[of_file[order]]
    reached = order[2 * within >= once[of_file[order]]]
    usual = np.zeros(len(once), np.int64)
    np.maximum.at(usual, of_file[reached], times[reached])
    return usual
