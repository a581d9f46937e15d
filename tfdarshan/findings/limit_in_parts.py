"""A limit that lets parts of a call pass in each interval: it counts bytes, though reads are of one size."""

from __future__ import annotations

import numpy as np

from tfdarshan.analysis.call_kinds import KIND
from tfdarshan.analysis.input_pipeline import input_calls
from tfdarshan.analysis.limited_quantity import PartsOfCalls
from tfdarshan.findings.measures import Measures

# A call that is no read, and takes as long, asks storage: for a folder's block, or a file's entry.
ASKS_STORAGE_NS = 50_000


def parts_that_pass(measures: Measures) -> PartsOfCalls | None:
    """Gives what shows that a limit lets parts of a call pass.

    None without such a limit, where sizes tell what it counts, and where other calls may be what an interval
    lacks to one more read: a limit of calls counts what opens ask storage for, too, which a log does not say.
    """
    allowance = measures.allowance
    if allowance is None or allowance.counts is not None or not measures.kinds_known:
        return None
    if allowance.parts is None:
        return None
    asked: int = measures.kept.get("asks", lambda: _asked_of_storage(measures))
    return allowance.parts if asked < allowance.parts.lacking else None


def _asked_of_storage(measures: Measures) -> int:
    """Gives how many calls on input that are no reads of data took as long as asking storage takes."""
    asked = 0
    for block in measures.session_calls.blocks():
        places, kinds = input_calls(block, measures.is_input, measures.windows)
        long = block.end_ns[places] - block.start_ns[places] >= ASKS_STORAGE_NS
        asked += int(np.count_nonzero(long & (kinds != KIND["read"])))
    return asked
