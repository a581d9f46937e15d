"""Reads that do not go on where the one before in their file ended, of reads that come block by block."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.native.read_order import JUMPED, JUMPS, LASTED, MADE, MOVED, READS, ReadOrder
from tfdarshan.thresholds import THRESHOLD

# Files of fewer reads are not read in pieces.
FEWEST_READS = THRESHOLD["few"]
# From this share of reads out of order on, a file counts, or from this share of the time in them.
SCATTERED = THRESHOLD["clearly"]
# What the kernel reads ahead at a time as a rule.
READ_AHEAD_BYTES = 128 << 10


@dataclass(frozen=True)
class ScatteredReads:
    """Reads of files that are read in many pieces out of order.

    Attributes:
        files: Rows of the file table, the ones with the most such reads first.
        reads: How many.
        pieces: How many parts they read, each from a jump up to the next; of files that count by the share of
            their reads out of order every read is one.
        read_bytes: What they read.
        thread_s: Their durations added up.
    """

    files: Array
    reads: int
    pieces: int
    read_bytes: int
    thread_s: float


def read_order(read_counts: Array) -> ReadOrder:
    """Return what looks at reads with data, in order of start, of files that may be read in pieces.

    A step of less than a read is no jump: a record's header and body, or a part that was read ahead. Nor is
    one where one of `read_order.SIDE_BY_SIDE` readers goes on, each in order.

    Args:
        read_counts: How often each file was read at most; one entry per row of the file table.
    """
    return ReadOrder(read_counts >= FEWEST_READS)


def scattered_reads(sums: Array, sizes: Array) -> ScatteredReads:
    """Return the reads of files that are read out of order.

    Args:
        sums: `ReadOrder.sums`.
        sizes: The files' sizes, -1 where unknown.
    """
    reads = np.where(sums[:, MADE] >= FEWEST_READS, sums[:, READS], 0)
    apart = (reads > 0) & (sums[:, JUMPS] >= SCATTERED * reads)
    in_parts = ~apart & (reads > 0) & _waits_for_jumps(sums, sizes)
    kept = apart | in_parts
    per_file = np.where(kept, reads, 0)
    order = np.argsort(-per_file, kind="stable")
    return ScatteredReads(
        order[: int(np.count_nonzero(per_file))],
        int(per_file.sum()),
        int(reads[apart].sum() + (sums[in_parts, JUMPS] + 1).sum()),
        int(sums[kept, MOVED].sum()),
        float(sums[kept, LASTED].sum()) / 1e9,
    )


def _waits_for_jumps(sums: Array, sizes: Array) -> Array:
    """Return which files wait for jumps, several a pass, though most of their reads go on after one before.

    A sample that is read page after page is to storage what one read of it is: the pages behind the first are
    read ahead. Parts of more than is read ahead at a time are streams. To begin again is no jump of a pass.
    """
    passes = np.maximum(1, sums[:, MOVED] / np.maximum(sizes, 1))
    return (
        (sizes > 0)
        & (sums[:, JUMPS] >= FEWEST_READS * passes)
        & (sums[:, MOVED] <= READ_AHEAD_BYTES * sums[:, JUMPS])
        & (sums[:, JUMPED] >= SCATTERED * sums[:, LASTED])
    )
