"""Waits of steps in which calls on some files were under way, and no other call was: all waits for these."""

from __future__ import annotations

from collections.abc import Iterable

from tfdarshan.analysis.intervals import Array, Covered, RunningUnion
from tfdarshan.analysis.segments import Segments


def waited_alone_ns(blocks: Iterable[Segments], files: Array, waits: Covered) -> int:
    """Gives their time, in ns.

    Args:
        blocks: Calls on input, in order of start.
        files: Which rows of the file table are the files, bool.
        waits: The waits.
    """
    # By a clock that stands still but for the waits.
    with_these, without = RunningUnion(), RunningUnion()
    for block in blocks:
        start_ns, end_ns = waits.until(block.start_ns), waits.until(block.end_ns)
        others = ~files[block.file]
        with_these.add(start_ns, end_ns)
        without.add(start_ns[others], end_ns[others])
    return with_these.sum_ns - without.sum_ns
