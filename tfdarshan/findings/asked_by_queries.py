"""What SQLite asks of storage with each query, besides the pages that it reads."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tfdarshan.analysis.call_kinds import KIND, STATS, CallGroup, kind_codes
from tfdarshan.analysis.intervals import Array
from tfdarshan.findings.measures import Measures
from tfdarshan.staging.candidate import JOURNALS


def asked_by_queries(measures: Measures, files: Array) -> CallGroup:
    """Gives the stats of some databases' journals and write-ahead logs: most are absent, and so are no input.

    Each query asks for both, which say if a change was left unfinished. One query for all rows asks once.
    Who reads makes them, between the reads.

    Args:
        measures: The session.
        files: Rows of the file table.
    """
    chosen = _journals(measures, files) & ~measures.is_input
    if not chosen.any():
        return CallGroup()
    calls, lasted_ns = 0, 0
    for block in measures.session_calls.blocks():
        asks = np.isin(kind_codes(block.operations), [KIND[name] for name in STATS])
        places = chosen[block.file] & asks[block.operation]
        if measures.windows is not None:
            first_ns, last_ns = measures.windows.span_ns
            places &= (block.start_ns >= first_ns) & (block.start_ns < last_ns)
        calls += int(np.count_nonzero(places))
        lasted_ns += int((block.end_ns[places] - block.start_ns[places]).sum())
    reads = measures.group("read")
    beside = reads.beside_s / reads.thread_s if reads.thread_s > 0 else 1.0
    return CallGroup(calls, 0.0, beside * lasted_ns / 1e9, (1 - beside) * lasted_ns / 1e9)


def _journals(measures: Measures, files: Array) -> Array:
    paths = measures.files.paths
    of_databases = paths.take(pa.array(files))
    found = np.zeros(len(paths), bool)
    for ending in JOURNALS:
        theirs = pc.binary_join_element_wise(of_databases, ending, "")
        found |= pc.is_in(paths, theirs).to_numpy(zero_copy_only=False)
    return found
