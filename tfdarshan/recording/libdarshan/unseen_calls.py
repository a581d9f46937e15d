"""Which counters a call changes: what a call that libdarshan did not see may explain, and nothing else.

A read, a write, a seek or an open also changes what is counted of later calls on the same file: whether they
are sequential or consecutive, and at which offset Darshan takes them to be.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from tfdarshan.native import _bridge
from tfdarshan.native.spool_reader import Array

_SEQUENCES = ("POSIX_SEQ_", "POSIX_CONSEC_", "POSIX_STRIDE")
_POSITIONS = ("POSIX_MAX_BYTE_", "POSIX_FILE_NOT_ALIGNED", *_SEQUENCES)
# A rename counts where something is known of the file.
_KNOWN = ("POSIX_RENAME",)
_OPEN = ("POSIX_OPENS", "POSIX_F_OPEN_", "POSIX_F_META_TIME", *_KNOWN)
_TRANSFER = ("POSIX_ACCESS", "POSIX_RW_SWITCHES", "POSIX_MEM_NOT_ALIGNED", *_POSITIONS, *_KNOWN)
_READ = (
    "POSIX_READS",
    "POSIX_BYTES_READ",
    "POSIX_SIZE_READ_",
    "POSIX_MAX_READ_TIME_SIZE",
    "POSIX_F_READ_",
    "POSIX_F_MAX_READ_TIME",
    *_TRANSFER,
)
_WRITE = (
    "POSIX_WRITES",
    "POSIX_BYTES_WRITTEN",
    "POSIX_SIZE_WRITE_",
    "POSIX_MAX_WRITE_TIME_SIZE",
    "POSIX_F_WRITE_",
    "POSIX_F_MAX_WRITE_TIME",
    *_TRANSFER,
)
_STREAM_OPEN = ("STDIO_OPENS", "STDIO_F_OPEN_", "STDIO_F_META_TIME", "STDIO_MAX_BYTE_")

# Counters by how their names begin.
EFFECTS: dict[str, tuple[str, ...]] = {
    "open": ("POSIX_MODE", *_OPEN, *_POSITIONS),
    "close": ("POSIX_F_CLOSE_", "POSIX_F_META_TIME", *_SEQUENCES, *_KNOWN),
    **dict.fromkeys(("read", "pread", "readv", "preadv"), _READ),
    **dict.fromkeys(("write", "pwrite", "writev", "pwritev"), _WRITE),
    "lseek": ("POSIX_SEEKS", "POSIX_F_META_TIME", *_POSITIONS, *_KNOWN),
    **dict.fromkeys(("stat", "fstat"), ("POSIX_STATS", "POSIX_F_META_TIME", *_KNOWN)),
    "fsync": ("POSIX_FSYNCS", "POSIX_F_WRITE_TIME", *_KNOWN),
    "fdatasync": ("POSIX_FDSYNCS", "POSIX_F_WRITE_TIME", *_KNOWN),
    "dup": ("POSIX_DUPS", *_OPEN),
    "fileno": ("POSIX_FILENOS", *_OPEN),
    "mmap": ("POSIX_MMAPS", *_KNOWN),
    "rename": ("POSIX_RENAME", "POSIX_F_META_TIME"),
    "fopen": _STREAM_OPEN,
    "fdopen": ("STDIO_FDOPENS", *_STREAM_OPEN),
    "fclose": ("STDIO_F_CLOSE_", "STDIO_F_META_TIME"),
    "fread": ("STDIO_READS", "STDIO_BYTES_READ", "STDIO_F_READ_", "STDIO_MAX_BYTE_"),
    "fwrite": ("STDIO_WRITES", "STDIO_BYTES_WRITTEN", "STDIO_F_WRITE_", "STDIO_MAX_BYTE_"),
    "fseek": ("STDIO_SEEKS", "STDIO_F_META_TIME", "STDIO_MAX_BYTE_"),
    "fflush": ("STDIO_FLUSHES", "STDIO_F_WRITE_", "STDIO_MAX_BYTE_WRITTEN"),
}


@lru_cache(maxsize=8)
def effects(names: tuple[str, ...]) -> Array:
    """Return which of the counters `names` each operation may change: operations x counters."""
    return np.array(
        [
            [name.startswith(EFFECTS.get(operation.name, ("no counter",))) for name in names]
            for operation in _bridge.operations()
        ]
    )


def may_change(operations: Array, names: Sequence[str]) -> Array:
    """Return which counters the operations of each row may change: rows x counters.

    Args:
        operations: A bit for each operation, one number per row.
        names: The counters.
    """
    return _called(operations) @ effects(tuple(names))


def explained(operations: Array, names: Sequence[str], where: Array) -> dict[str, list[str]]:
    """Return, by operation that rows lack, the counters it may have changed of those that `where` marks."""
    by_operation = effects(tuple(names))
    called = _called(operations)
    found = {}
    for number, operation in enumerate(_bridge.operations()):
        counters = where[called[:, number]].any(axis=0) & by_operation[number]
        if counters.any():
            found[operation.name] = sorted(np.array(names)[counters].tolist())
    return found


@lru_cache(maxsize=8)
def operation_bits(*names: str) -> Any:
    """Return the number that has the bits of these operations, uint32."""
    return np.uint32(sum(1 << n for n, o in enumerate(_bridge.operations()) if o.name in names))


def _called(operations: Array) -> Array:
    bits = np.arange(len(_bridge.operations()), dtype=np.uint32)
    called: Array = operations[:, np.newaxis] >> bits & 1 == 1
    return called
