"""Storage that goes on while a reader does something else: the kernel asks it for what follows.

Who reads a file in order, and decodes each part before he reads the next, waits as much less for that as he
took to decode: parts arrive at a pace of their own. Decoding goes on beside storage then, and more readers
cannot move it there again. Where parts take as long however long he rested, storage rested, too.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tfdarshan.analysis.in_order.thinned import Thinned
from tfdarshan.analysis.intervals import Array
from tfdarshan.analysis.segments import Segments
from tfdarshan.analysis.storage_passes import from_storage
from tfdarshan.findings.measures import Measures
from tfdarshan.findings.read_split import STREAMED

# So many parts tell. What lies between the ends of one part and the next varies by this share, at most, of
# what readers do between both: by their quartiles.
FEWEST, STEADY = 20, 0.5


def reads_on(measures: Measures) -> bool:
    """Says whether storage goes on while readers do something else with what they have read."""
    if measures.streamed_share < STREAMED:
        return False
    share = measures.kept.get("pace", lambda: pace_share(measures.calls_again("read")))
    return share <= STEADY


def pace_share(reads: Iterable[Segments]) -> float:
    """Gives how much the pace of parts varies, as a share of what rests between them do; inf where untold.

    Args:
        reads: Reads of input, block by block, in order of start.
    """
    sample = Thinned(2)
    for block in reads:
        sample.add(*_rests_and_reads(block))
    rests, taken = sample.columns()
    if len(rests) < FEWEST:
        return float("inf")
    return _spread(rests + taken) / max(_spread(rests), 1.0)


def _rests_and_reads(block: Segments) -> tuple[Array, Array]:
    """Gives what lies between a read and the next one of a thread, where the file goes on, and its own time.

    Only of those that storage served: what memory has says nothing of its pace.
    """
    order = np.argsort(block.thread, kind="stable")
    thread, file, offset, length = (
        values[order] for values in (block.thread, block.file, block.offset, block.length)
    )
    start, end = block.start_ns[order], block.end_ns[order]
    taken = (end - start)[1:]
    follows = (thread[1:] == thread[:-1]) & (file[1:] == file[:-1]) & (start[1:] >= end[:-1])
    follows &= (offset[:-1] >= 0) & (offset[1:] == offset[:-1] + length[:-1])
    follows &= from_storage(np.ones(len(taken)), length[1:], taken / 1e9)
    return (start[1:] - end[:-1])[follows], taken[follows]


def _spread(values: Array) -> float:
    """Gives how far their quartiles are apart."""
    low, high = np.quantile(values, (0.25, 0.75))
    return float(high - low)
