"""The one rule that tells reads which storage served from those that the page cache did: by passes' times.

A pass is what one thread reads of one file from an open to the next, or to a close, and no more than the file
has bytes: of a file that stays open, each reading is one. It counts as served by the page cache where its
reads took no longer than copying from memory would, `CACHED_CALL_S` a call and `CACHED_S_PER_BYTE` a byte,
with room for a busy machine. A pass counts as a whole: of a file read in small pieces the kernel's read-ahead
makes most reads quick, and the few slow ones have the others' data. Of very many small pieces that room hides
what storage takes: there a pass is storage's, too, if most of its time went to `MANY_SLOW` reads or more that
each took longer than that, and may have brought all of it, `AHEAD_BYTES` each. A fast NVMe device can come
near these bounds; there another device would gain next to nothing either way.
"""

from __future__ import annotations

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.native.input_sums import Passes
from tfdarshan.thresholds import THRESHOLD

CACHED_CALL_S = THRESHOLD["memory call"]
CACHED_S_PER_BYTE = 1 / THRESHOLD["memory"]
# Reads that waited for a processor are fewer than that.
MANY_SLOW, AHEAD_BYTES = 2 * int(THRESHOLD["few"]), int(THRESHOLD["read ahead"])


def from_storage(calls: Array, moved_bytes: Array, read_s: Array) -> Array:
    """Return for reads that belong together whether storage served them, bool.

    Args:
        calls: How many there are.
        moved_bytes: What they moved.
        read_s: How long they took, added up.
    """
    return read_s > calls * CACHED_CALL_S + moved_bytes * CACHED_S_PER_BYTE


def storage_passes(size_bytes: Array) -> Passes:
    """Return what adds up, file by file, the passes that storage served, of reads that come block by block.

    Args:
        size_bytes: The files' sizes, -1 if unknown: one entry per row of the file table.
    """
    return Passes(size_bytes, CACHED_CALL_S, CACHED_S_PER_BYTE, many_slow=MANY_SLOW, ahead_bytes=AHEAD_BYTES)
