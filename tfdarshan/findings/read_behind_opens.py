"""What the kernel reads ahead while files are opened, so that the reads that follow find it in memory.

Storage that serves one call after the other has these reads stand before opens, which take longer for it.
Whoever opens a file once waits as long for the reads themselves, which are quick where it is opened again.
"""

from __future__ import annotations

import numpy as np

from tfdarshan.analysis.in_order.read_pieces import READ_AHEAD_BYTES
from tfdarshan.analysis.in_order.thinned import Thinned
from tfdarshan.analysis.intervals import Array
from tfdarshan.findings.measures import Measures

# One open in so many of a file is taken to have nothing before it: it takes what an open takes alone.
ALONE = 10


def read_behind_opens(measures: Measures) -> Array:
    """Gives what opens may have waited for reads that are needed all the same, seconds.

    It is what storage takes for reads that nobody waited for, as far as opens of their file took longer than
    the quick ones of them.

    Returns:
        One entry per row of the file table, float64.
    """
    ahead_s = _read_ahead_s(measures)
    if not ahead_s.any():
        return ahead_s
    rows = len(measures.files)
    beyond: Array = measures.kept.get("opens_beyond_quick", lambda: _beyond_quick(measures, rows))
    found: Array = np.minimum(ahead_s, beyond * measures.costs.open_s)
    return found


def _read_ahead_s(measures: Measures) -> Array:
    """Gives what storage takes for what it served of each file and no read waited for.

    Of a file that was in memory before no read waits. Where some did, the others' data came from storage,
    too, in parts of what is read ahead at a time, each of which takes as long as a read that waited.
    """
    costs, size, (waited, lasted_ns) = measures.costs, measures.sizes, measures.facts.stored.by_file
    once = np.where(size > 0, np.minimum(size, costs.read_bytes), 0.0)
    part = np.maximum(READ_AHEAD_BYTES, costs.read_bytes / np.maximum(costs.reads, 1))
    parts = np.maximum(once / part - waited, 0.0)
    # What is read out of order is not read ahead.
    parts[measures.facts.pieces.scattered.files] = 0.0
    found: Array = parts * lasted_ns / np.maximum(waited, 1) / 1e9
    return found


def _beyond_quick(measures: Measures, rows: int) -> Array:
    """Gives which share of the time in each file's opens they took beyond what the quick ones of them do."""
    sample = Thinned(2)
    for block in measures.calls_again("open"):
        sample.add(block.file.astype(np.int64), block.end_ns - block.start_ns)
    file, taken_ns = sample.columns()
    order = np.lexsort((taken_ns, file))
    file, taken_ns = file[order], taken_ns[order]
    count = np.bincount(file, minlength=rows)
    whole_ns = np.bincount(file, taken_ns, minlength=rows)
    opened = count > 0
    first = np.cumsum(count) - count
    quick_ns = np.zeros(rows)
    quick_ns[opened] = taken_ns[(first + count // ALONE)[opened]]
    found: Array = np.clip(1 - count * quick_ns / np.maximum(whole_ns, 1.0), 0.0, 1.0)
    found[~opened] = 0.0
    return found
