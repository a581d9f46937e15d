"""Reads that do not go on where the one before them in their file ended."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.intervals import Array, group_order
from tfdarshan.analysis.segments import Segments


@dataclass(frozen=True)
class ScatteredReads:
    """Reads of files that are read in many pieces out of order.

    Attributes:
        files: Rows of the file table, the ones with the most such reads first.
        reads: How many.
        read_bytes: What they read.
        thread_s: Their durations added up.
    """

    files: Array
    reads: int
    read_bytes: int
    thread_s: float


# Files of fewer reads are not read in pieces.
FEWEST_READS = 8
# Readers that go through one file side by side, each in order.
SIDE_BY_SIDE = 16
# Reads of this size on are parts of a stream; with fewer bytes in such parts there is none.
STREAM_PART_BYTES = 256 << 10
LEAST_STREAM = 0.1
# From this share of reads out of order on, a file counts.
SCATTERED = 0.3


def scattered_reads(segments: Segments, places: Array, files: int) -> ScatteredReads:
    """Finds them.

    Args:
        segments: The session's calls.
        places: The reads with data to look at, in order of start.
        files: How many rows the file table has.
    """
    count = np.bincount(segments.file[places], minlength=files)
    places = places[count[segments.file[places]] >= FEWEST_READS]
    places = places[segments.offset[places] >= 0]
    if len(places) == 0:
        return ScatteredReads(places, 0, 0, 0.0)
    places = places[group_order(segments.file[places], files)]
    file, offset, length = (column[places] for column in (segments.file, segments.offset, segments.length))
    jumps = _jumps(file, offset, length)
    share = np.bincount(file, jumps, minlength=files) / np.maximum(np.bincount(file, minlength=files), 1)
    kept = share[file] >= SCATTERED
    duration = (segments.end_ns - segments.start_ns)[places[kept]]
    per_file = np.bincount(file[kept], minlength=files)
    order = np.argsort(-per_file, kind="stable")
    return ScatteredReads(
        order[: int(np.count_nonzero(per_file))],
        int(kept.sum()),
        int(length[kept].sum()),
        float(duration.sum()) / 1e9,
    )


def streamed_share(segments: Segments, places: Array, files: int) -> float:
    """Gives the share of the bytes read in large parts that go on where the part before ended.

    Args:
        segments: The session's calls.
        places: The reads with data to look at, in order of start.
        files: How many rows the file table has.
    """
    moved = float(segments.length[places].sum())
    places = places[(segments.length[places] >= STREAM_PART_BYTES) & (segments.offset[places] >= 0)]
    if not len(places) or float(segments.length[places].sum()) < LEAST_STREAM * moved:
        return 0.0
    places = places[group_order(segments.file[places], files)]
    file, offset, length = (column[places] for column in (segments.file, segments.offset, segments.length))
    goes_on = (file[1:] == file[:-1]) & (offset[1:] == offset[:-1] + length[:-1])
    in_order = np.concatenate([[False], goes_on]) | np.concatenate([goes_on, [False]])
    return float(length[in_order].sum()) / moved


def _jumps(file: Array, offset: Array, length: Array) -> Array:
    """Says which reads go on after none of the reads before them in their file, by file in order of time.

    A step of less than a read is none: a record's header and body, or a part that was read ahead.
    """
    jumps: Array = np.ones(len(file), bool)
    end = offset + length
    for back in range(1, min(SIDE_BY_SIDE, len(file) - 1) + 1):
        near = np.abs(offset[back:] - end[:-back]) <= length[:-back]
        jumps[back:] &= ~(near & (file[back:] == file[:-back]))
    jumps[np.concatenate([[True], file[1:] != file[:-1]])] = False
    return jumps
